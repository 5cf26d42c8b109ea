#include <iostream>
#include <queue>
#include <string>
#include <tuple>
#include <vector>
using namespace std;

int main() {
    int height, width;
    cin >> height >> width;
    vector<string> grid(height);
    for (auto &row : grid) {
        cin >> row;
    }
    int start_y = 0, start_x = 0, goal_y = 0, goal_x = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (grid[y][x] == 'S') {
                start_y = y;
                start_x = x;
            }
            if (grid[y][x] == 'G') {
                goal_y = y;
                goal_x = x;
            }
        }
    }

    // distance[used][y][x]: used tells whether the charge is gone.
    vector<vector<vector<int>>> distance(2, vector<vector<int>>(height, vector<int>(width, -1)));
    queue<tuple<int, int, int>> todo;
    distance[0][start_y][start_x] = 0;
    todo.push({0, start_y, start_x});
    int dy[4] = {1, 0, -1, 0};
    int dx[4] = {0, 1, 0, -1};
    while (!todo.empty()) {
        auto [used, y, x] = todo.front();
        todo.pop();
        for (int k = 0; k < 4; k++) {
            int next_y = y + dy[k];
            int next_x = x + dx[k];
            if (next_y < 0 || next_x < 0 || next_y >= height || next_x >= width) {
                continue;
            }
            int next_used = used + (grid[next_y][next_x] == '#' ? 1 : 0);
            if (next_used > 1) {
                continue;
            }
            if (distance[next_used][next_y][next_x] != -1) {
                continue;
            }
            distance[next_used][next_y][next_x] = distance[used][y][x] + 1;
            todo.push({next_used, next_y, next_x});
        }
    }

    int whole = distance[0][goal_y][goal_x];
    int broken = distance[1][goal_y][goal_x];
    int answer = whole;
    if (broken != -1 && (answer == -1 || broken < answer)) {
        answer = broken;
    }
    cout << answer << endl;
    return 0;
}
