#include <iostream>
#include <vector>
using namespace std;

int main() {
    int n;
    cin >> n;
    const long long shift = 2000000000LL;
    // One cell for each unit of the fence.
    vector<char> painted(2 * shift, 0);
    for (int i = 0; i < n; i++) {
        long long left, right;
        cin >> left >> right;
        for (long long x = left; x < right; x++) {
            painted[x + shift] = 1;
        }
    }
    long long total = 0;
    for (char cell : painted) {
        total += cell;
    }
    cout << total << endl;
    return 0;
}
