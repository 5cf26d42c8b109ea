#include <iostream>
#include <queue>
#include <tuple>
#include <vector>
using namespace std;

int main() {
    int n, m;
    cin >> n >> m;
    vector<vector<pair<int, long long>>> roads(n + 1);
    for (int i = 0; i < m; i++) {
        int a, b;
        long long toll;
        cin >> a >> b >> toll;
        roads[a].push_back({b, toll});
        roads[b].push_back({a, toll});
    }

    // Pairs (toll, roads) are compared in this order, which is what we need.
    const long long FAR = 4000000000000000000LL;
    vector<pair<long long, int>> best(n + 1, {FAR, 0});
    priority_queue<tuple<long long, int, int>, vector<tuple<long long, int, int>>, greater<tuple<long long, int, int>>> heap;
    best[1] = {0, 0};
    heap.push({0, 0, 1});
    while (!heap.empty()) {
        auto [cost, count, town] = heap.top();
        heap.pop();
        if (make_pair(cost, count) > best[town]) {
            continue;
        }
        for (auto &road : roads[town]) {
            pair<long long, int> reached = {cost + road.second, count + 1};
            if (reached < best[road.first]) {
                best[road.first] = reached;
                heap.push({reached.first, reached.second, road.first});
            }
        }
    }

    if (best[n].first == FAR) {
        cout << -1 << endl;
    } else {
        cout << best[n].first << " " << best[n].second << endl;
    }
    return 0;
}
