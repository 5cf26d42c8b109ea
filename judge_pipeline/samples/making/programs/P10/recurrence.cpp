#include <bits/stdc++.h>
using namespace std;
using ll = long long;
const ll MOD = 1e9 + 7;

int main() {
    int q;
    cin >> q;
    while (q--) {
        ll n;
        cin >> n;
        // f(n) = 2 f(n-1) + 2 f(n-2) with f(0) = 1 and f(1) = 3.
        ll a = 2, b = 2, c = 1, d = 0;
        ll first = 3, second = 1;
        ll steps = n - 1;
        while (steps > 0) {
            if (steps & 1) {
                ll next_first = (a * first + b * second) % MOD;
                ll next_second = (c * first + d * second) % MOD;
                first = next_first;
                second = next_second;
            }
            ll na = (a * a + b * c) % MOD;
            ll nb = (a * b + b * d) % MOD;
            ll nc = (c * a + d * c) % MOD;
            ll nd = (c * b + d * d) % MOD;
            a = na;
            b = nb;
            c = nc;
            d = nd;
            steps >>= 1;
        }
        cout << first << "\n";
    }
    return 0;
}
