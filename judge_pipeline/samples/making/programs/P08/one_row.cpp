#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;

int main() {
    int n, budget;
    cin >> n >> budget;
    // best[money]: the greatest satisfaction for at most that much money.
    vector<long long> best(budget + 1, 0);
    for (int i = 0; i < n; i++) {
        int cost;
        long long gain;
        cin >> cost >> gain;
        for (int money = budget; money >= cost; money--) {
            best[money] = max(best[money], best[money - cost] + gain);
        }
    }
    int cheapest = 0;
    while (best[cheapest] != best[budget]) {
        cheapest++;
    }
    cout << best[budget] << " " << cheapest << endl;
    return 0;
}
