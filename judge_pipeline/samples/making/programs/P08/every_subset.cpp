#include <iostream>
#include <vector>
using namespace std;

int n, budget;
vector<int> cost, gain;
long long most = 0;
int cheapest = 0;

void choose(int i, int spent, long long total) {
    if (spent > budget) {
        return;
    }
    if (i == n) {
        if (total > most || (total == most && spent < cheapest)) {
            most = total;
            cheapest = spent;
        }
        return;
    }
    choose(i + 1, spent, total);
    choose(i + 1, spent + cost[i], total + gain[i]);
}

int main() {
    cin >> n >> budget;
    cost.resize(n);
    gain.resize(n);
    for (int i = 0; i < n; i++) {
        cin >> cost[i] >> gain[i];
    }
    choose(0, 0, 0);
    cout << most << " " << cheapest << endl;
    return 0;
}
