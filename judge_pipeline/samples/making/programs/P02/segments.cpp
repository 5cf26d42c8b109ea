#include <bits/stdc++.h>
using namespace std;

int main() {
    int n, least;
    cin >> n >> least;
    vector<int> rain(n);
    for (int i = 0; i < n; i++) {
        cin >> rain[i];
    }
    int best = 0, first = -1;
    int left = 0;
    while (left < n) {
        if (rain[left] < least) {
            left++;
            continue;
        }
        int right = left;
        while (right < n && rain[right] >= least) {
            right++;
        }
        if (right - left > best) {
            best = right - left;
            first = left;
        }
        left = right;
    }
    cout << best << " " << first + 1 << "\n";
    return 0;
}
