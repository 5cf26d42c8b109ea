import java.util.Scanner;

public class Main {
    static int height, width, answer = -1;
    static String[] grid;
    static boolean[][] visited;

    static void visit(int y, int x, int used, int moves) {
        if (y < 0 || y >= height || x < 0 || x >= width || visited[y][x]) {
            return;
        }
        if (grid[y].charAt(x) == '#') {
            used++;
        }
        if (used > 1) {
            return;
        }
        if (grid[y].charAt(x) == 'G') {
            if (answer == -1 || moves < answer) {
                answer = moves;
            }
            return;
        }
        visited[y][x] = true;
        visit(y + 1, x, used, moves + 1);
        visit(y, x + 1, used, moves + 1);
        visit(y - 1, x, used, moves + 1);
        visit(y, x - 1, used, moves + 1);
        visited[y][x] = false;
    }

    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        height = scanner.nextInt();
        width = scanner.nextInt();
        grid = new String[height];
        visited = new boolean[height][width];
        int startY = 0, startX = 0;
        for (int y = 0; y < height; y++) {
            grid[y] = scanner.next();
            if (grid[y].contains("S")) {
                startY = y;
                startX = grid[y].indexOf("S");
            }
        }
        visit(startY, startX, 0, 0);
        System.out.println(answer);
    }
}
