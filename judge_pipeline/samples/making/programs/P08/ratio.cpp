#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;

int main() {
    int n, budget;
    cin >> n >> budget;
    vector<pair<int, int>> dishes(n);
    for (auto &dish : dishes) {
        cin >> dish.first >> dish.second;
    }
    // Best satisfaction per yen first.
    sort(dishes.begin(), dishes.end(), [](const pair<int, int> &p, const pair<int, int> &q) {
        return (long long)p.second * q.first > (long long)q.second * p.first;
    });
    long long total = 0;
    int spent = 0;
    for (auto &dish : dishes) {
        if (spent + dish.first <= budget) {
            spent += dish.first;
            total += dish.second;
        }
    }
    cout << total << " " << spent << endl;
    return 0;
}
