#include <iostream>
#include <vector>
#include <algorithm>
using namespace std;

int main() {
    int n;
    cin >> n;
    vector<pair<long long, long long>> parts(n);
    for (auto &part : parts) {
        cin >> part.first >> part.second;
    }
    sort(parts.begin(), parts.end());

    // Walk from left to right and keep the block that is being painted.
    long long total = 0;
    long long left = parts[0].first;
    long long right = parts[0].second;
    for (int i = 1; i < n; i++) {
        if (parts[i].first > right) {
            total += right - left;
            left = parts[i].first;
            right = parts[i].second;
        } else {
            right = max(right, parts[i].second);
        }
    }
    total += right - left;
    cout << total << endl;
    return 0;
}
