#include <bits/stdc++.h>
using namespace std;
typedef long long ll;

struct Edge {
    int to;
    ll weight;
};

int main() {
    int n, m;
    cin >> n >> m;
    vector<vector<Edge>> graph(n);
    // One number for both: toll * 10000 + 1 for each road.
    const ll SCALE = 10000;
    for (int i = 0; i < m; i++) {
        int a, b;
        ll toll;
        cin >> a >> b >> toll;
        a--;
        b--;
        graph[a].push_back({b, toll * SCALE + 1});
        graph[b].push_back({a, toll * SCALE + 1});
    }
    vector<ll> distance(n, LLONG_MAX);
    set<pair<ll, int>> todo;
    distance[0] = 0;
    todo.insert({0, 0});
    while (!todo.empty()) {
        int here = todo.begin()->second;
        todo.erase(todo.begin());
        for (Edge edge : graph[here]) {
            ll candidate = distance[here] + edge.weight;
            if (candidate < distance[edge.to]) {
                todo.erase({distance[edge.to], edge.to});
                distance[edge.to] = candidate;
                todo.insert({candidate, edge.to});
            }
        }
    }
    if (distance[n - 1] == LLONG_MAX) {
        cout << "-1\n";
    } else {
        cout << distance[n - 1] / SCALE << " " << distance[n - 1] % SCALE << "\n";
    }
    return 0;
}
