#include <iostream>
using namespace std;

int main() {
    const long long MOD = 1000000007;
    int q;
    cin >> q;
    for (int i = 0; i < q; i++) {
        long long n;
        cin >> n;
        long long red = 1, other = 2;
        for (long long k = 1; k < n; k++) {
            long long next_red = other;
            long long next_other = 2 * (red + other) % MOD;
            red = next_red;
            other = next_other;
        }
        cout << (red + other) % MOD << endl;
    }
    return 0;
}
