#include <stdio.h>
#include <string.h>

static char grid[245][245];
static int steps[2][245][245];
static int line[2 * 245 * 245];

int main(void) {
    int height, width, y, x, k, head = 0, tail = 0;
    int goal_y = 0, goal_x = 0, answer;
    const int dy[] = {0, 1, 0, -1};
    const int dx[] = {1, 0, -1, 0};
    scanf("%d %d", &height, &width);
    memset(steps, -1, sizeof(steps));
    for (y = 0; y < height; y++) {
        scanf("%s", grid[y]);
        for (x = 0; x < width; x++) {
            if (grid[y][x] == 'S') {
                steps[0][y][x] = 0;
                line[tail++] = y * width + x;
            } else if (grid[y][x] == 'G') {
                goal_y = y;
                goal_x = x;
            }
        }
    }
    while (head < tail) {
        int state = line[head++];
        int used = state / (height * width);
        int here = state % (height * width);
        for (k = 0; k < 4; k++) {
            int ny = here / width + dy[k];
            int nx = here % width + dx[k];
            int next = used;
            if (ny < 0 || ny >= height || nx < 0 || nx >= width) {
                continue;
            }
            if (grid[ny][nx] == '#') {
                next++;
            }
            if (next > 1 || steps[next][ny][nx] >= 0) {
                continue;
            }
            steps[next][ny][nx] = steps[used][here / width][here % width] + 1;
            line[tail++] = next * height * width + ny * width + nx;
        }
    }
    answer = steps[0][goal_y][goal_x];
    if (answer < 0 || (steps[1][goal_y][goal_x] >= 0 && steps[1][goal_y][goal_x] < answer)) {
        answer = steps[1][goal_y][goal_x];
    }
    printf("%d\n", answer);
    return 0;
}
