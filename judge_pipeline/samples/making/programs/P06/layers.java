import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.Arrays;

public class Main {
    public static void main(String[] args) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        String[] size = reader.readLine().split(" ");
        int height = Integer.parseInt(size[0]);
        int width = Integer.parseInt(size[1]);
        String[] grid = new String[height];
        int[] start = null;
        int[] goal = null;
        for (int y = 0; y < height; y++) {
            grid[y] = reader.readLine();
            if (grid[y].indexOf('S') >= 0) {
                start = new int[] {y, grid[y].indexOf('S')};
            }
            if (grid[y].indexOf('G') >= 0) {
                goal = new int[] {y, grid[y].indexOf('G')};
            }
        }

        // steps[used][y][x]
        int[][][] steps = new int[2][height][width];
        for (int[][] layer : steps) {
            for (int[] row : layer) {
                Arrays.fill(row, -1);
            }
        }
        ArrayDeque<int[]> queue = new ArrayDeque<>();
        steps[0][start[0]][start[1]] = 0;
        queue.add(new int[] {start[0], start[1], 0});
        int answer = -1;
        int[][] directions = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
        while (!queue.isEmpty()) {
            int[] state = queue.poll();
            if (state[0] == goal[0] && state[1] == goal[1]) {
                answer = steps[state[2]][state[0]][state[1]];
                break;
            }
            for (int[] direction : directions) {
                int ny = state[0] + direction[0];
                int nx = state[1] + direction[1];
                if (ny < 0 || ny >= height || nx < 0 || nx >= width) {
                    continue;
                }
                int used = state[2];
                if (grid[ny].charAt(nx) == '#') {
                    used++;
                }
                if (used < 2 && steps[used][ny][nx] == -1) {
                    steps[used][ny][nx] = steps[state[2]][state[0]][state[1]] + 1;
                    queue.add(new int[] {ny, nx, used});
                }
            }
        }
        System.out.println(answer);
    }
}
