#include <bits/stdc++.h>
using namespace std;

int main() {
    int n;
    cin >> n;
    map<long long, int> delta;
    for (int i = 0; i < n; i++) {
        long long left, right;
        cin >> left >> right;
        delta[left]++;
        delta[right]--;
    }
    long long total = 0;
    long long previous = 0;
    int depth = 0;
    for (auto entry : delta) {
        if (depth > 0) {
            total += entry.first - previous;
        }
        depth += entry.second;
        previous = entry.first;
    }
    cout << total << "\n";
    return 0;
}
