#include <iostream>
#include <vector>
using namespace std;

int main() {
    const long long MOD = 1000000007;
    int q;
    cin >> q;
    vector<long long> ways = {1, 3};
    while (q--) {
        long long n;
        cin >> n;
        // Remember all rows up to n for the next questions.
        while ((long long)ways.size() <= n) {
            size_t k = ways.size();
            ways.push_back((2 * ways[k - 1] + 2 * ways[k - 2]) % MOD);
        }
        cout << ways[n] << endl;
    }
    return 0;
}
