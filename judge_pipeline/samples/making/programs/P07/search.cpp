#include <bits/stdc++.h>
using namespace std;
using ll = long long;

int main() {
    ll n, x, a, c, m, least;
    cin >> n >> x >> a >> c >> m >> least;
    vector<ll> values;
    for (int i = 0; i < n; i++) {
        values.push_back(x);
        x = (x * a + c) % m;
    }
    sort(values.begin(), values.end());
    ll total = 0;
    for (int i = 0; i < n; i++) {
        auto found = lower_bound(values.begin() + i + 1, values.end(), least - values[i]);
        total += values.end() - found;
    }
    cout << total << "\n";
    return 0;
}
