#include <iostream>
#include <queue>
#include <vector>
using namespace std;

int main() {
    int n, m;
    cin >> n >> m;
    vector<vector<pair<int, int>>> roads(n + 1);
    for (int i = 0; i < m; i++) {
        int a, b, toll;
        cin >> a >> b >> toll;
        roads[a].push_back({b, toll});
        roads[b].push_back({a, toll});
    }
    vector<int> count(n + 1, -1);
    vector<long long> cost(n + 1, 0);
    queue<int> todo;
    count[1] = 0;
    todo.push(1);
    while (!todo.empty()) {
        int town = todo.front();
        todo.pop();
        for (auto road : roads[town]) {
            if (count[road.first] == -1) {
                count[road.first] = count[town] + 1;
                cost[road.first] = cost[town] + road.second;
                todo.push(road.first);
            }
        }
    }
    if (count[n] == -1) {
        cout << -1 << endl;
    } else {
        cout << cost[n] << " " << count[n] << endl;
    }
    return 0;
}
