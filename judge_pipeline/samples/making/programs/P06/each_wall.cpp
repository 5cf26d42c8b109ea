#include <iostream>
#include <queue>
#include <string>
#include <vector>
using namespace std;

int height, width;
vector<string> grid;

int walk() {
    vector<vector<int>> distance(height, vector<int>(width, -1));
    queue<pair<int, int>> todo;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (grid[y][x] == 'S') {
                distance[y][x] = 0;
                todo.push({y, x});
            }
        }
    }
    int dy[4] = {1, 0, -1, 0};
    int dx[4] = {0, 1, 0, -1};
    while (!todo.empty()) {
        pair<int, int> cell = todo.front();
        todo.pop();
        if (grid[cell.first][cell.second] == 'G') {
            return distance[cell.first][cell.second];
        }
        for (int k = 0; k < 4; k++) {
            int y = cell.first + dy[k];
            int x = cell.second + dx[k];
            if (y < 0 || x < 0 || y >= height || x >= width) continue;
            if (grid[y][x] == '#' || distance[y][x] != -1) continue;
            distance[y][x] = distance[cell.first][cell.second] + 1;
            todo.push({y, x});
        }
    }
    return -1;
}

int main() {
    cin >> height >> width;
    grid.resize(height);
    for (auto &row : grid) cin >> row;
    int answer = walk();
    // Remove every wall in turn.
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (grid[y][x] != '#') continue;
            grid[y][x] = '.';
            int found = walk();
            grid[y][x] = '#';
            if (found != -1 && (answer == -1 || found < answer)) answer = found;
        }
    }
    cout << answer << endl;
    return 0;
}
