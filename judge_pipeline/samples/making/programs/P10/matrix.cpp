#include <iostream>
#include <vector>
using namespace std;

const long long MOD = 1000000007LL;
typedef vector<vector<long long>> Matrix;

Matrix multiply(const Matrix &left, const Matrix &right) {
    Matrix result(2, vector<long long>(2, 0));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            for (int k = 0; k < 2; k++) {
                result[i][j] = (result[i][j] + left[i][k] * right[k][j]) % MOD;
            }
        }
    }
    return result;
}

int main() {
    int q;
    cin >> q;
    while (q--) {
        long long n;
        cin >> n;
        // State: (rows that end in red, rows that do not).
        Matrix base = {{0, 1}, {2, 2}};
        Matrix power = {{1, 0}, {0, 1}};
        long long exponent = n - 1;
        while (exponent > 0) {
            if (exponent % 2 == 1) {
                power = multiply(power, base);
            }
            base = multiply(base, base);
            exponent /= 2;
        }
        long long red = (power[0][0] * 1 + power[0][1] * 2) % MOD;
        long long other = (power[1][0] * 1 + power[1][1] * 2) % MOD;
        cout << (red + other) % MOD << endl;
    }
    return 0;
}
