#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;

int main() {
    long long n, x, a, c, m, least;
    cin >> n >> x >> a >> c >> m >> least;
    vector<long long> strength(n);
    for (int i = 0; i < n; i++) {
        strength[i] = x;
        x = (a * x + c) % m;
    }
    sort(strength.begin(), strength.end());

    // For a fixed right end, every left end from some point on is good.
    long long count = 0;
    int left = 0;
    int right = n - 1;
    while (left < right) {
        if (strength[left] + strength[right] >= least) {
            count += right - left;
            right--;
        } else {
            left++;
        }
    }
    cout << count << endl;
    return 0;
}
