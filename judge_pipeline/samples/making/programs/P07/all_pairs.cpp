#include <iostream>
#include <vector>
using namespace std;

int main() {
    long long n, x, a, c, m, least;
    cin >> n >> x >> a >> c >> m >> least;
    vector<long long> strength(n);
    for (int i = 0; i < n; i++) {
        strength[i] = x;
        x = (a * x + c) % m;
    }
    long long count = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            if (strength[i] + strength[j] >= least) {
                count++;
            }
        }
    }
    cout << count << endl;
    return 0;
}
