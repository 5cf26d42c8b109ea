#include <bits/stdc++.h>
using namespace std;

int height, width;
vector<string> grid;
const int FAR = 1000000000;

vector<vector<int>> spread(char mark) {
    vector<vector<int>> steps(height, vector<int>(width, FAR));
    deque<pair<int, int>> todo;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (grid[y][x] == mark) {
                steps[y][x] = 0;
                todo.push_back({y, x});
            }
        }
    }
    while (!todo.empty()) {
        int y = todo.front().first;
        int x = todo.front().second;
        todo.pop_front();
        if (grid[y][x] == '#') {
            continue;
        }
        for (int k = 0; k < 4; k++) {
            int ny = y + "1012"[k] - '1';
            int nx = x + "0121"[k] - '1';
            if (ny < 0 || nx < 0 || ny >= height || nx >= width) {
                continue;
            }
            if (steps[ny][nx] == FAR) {
                steps[ny][nx] = steps[y][x] + 1;
                todo.push_back({ny, nx});
            }
        }
    }
    return steps;
}

int main() {
    cin >> height >> width;
    grid.resize(height);
    for (int y = 0; y < height; y++) {
        cin >> grid[y];
    }
    auto from_start = spread('S');
    auto from_goal = spread('G');
    int best = FAR;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (from_start[y][x] < FAR && from_goal[y][x] < FAR) {
                best = min(best, from_start[y][x] + from_goal[y][x]);
            }
        }
    }
    cout << (best == FAR ? -1 : best) << "\n";
    return 0;
}
