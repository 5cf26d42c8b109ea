#include <bits/stdc++.h>
using namespace std;

int n, budget;
int cost[61], gain[61];
int best[61][10001];

int main() {
    cin >> n >> budget;
    for (int i = 1; i <= n; i++) {
        cin >> cost[i] >> gain[i];
    }
    for (int i = 1; i <= n; i++) {
        for (int money = 0; money <= budget; money++) {
            best[i][money] = best[i - 1][money];
            if (money >= cost[i]) {
                best[i][money] = max(best[i][money], best[i - 1][money - cost[i]] + gain[i]);
            }
        }
    }
    int most = best[n][budget];
    int money = budget;
    while (money > 0 && best[n][money - 1] == most) {
        money--;
    }
    cout << most << " " << money << "\n";
    return 0;
}
