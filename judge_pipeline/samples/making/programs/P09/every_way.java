import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

public class Main {
    static int n, m;
    static long bestCost = Long.MAX_VALUE;
    static int bestCount = 0;
    static List<List<int[]>> roads = new ArrayList<>();
    static boolean[] visited;

    static void go(int town, long cost, int count) {
        if (cost > bestCost) {
            return;
        }
        if (town == n) {
            if (cost < bestCost || count < bestCount) {
                bestCost = cost;
                bestCount = count;
            }
            return;
        }
        visited[town] = true;
        for (int[] road : roads.get(town)) {
            if (!visited[road[0]]) {
                go(road[0], cost + road[1], count + 1);
            }
        }
        visited[town] = false;
    }

    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        n = scanner.nextInt();
        m = scanner.nextInt();
        visited = new boolean[n + 1];
        for (int i = 0; i <= n; i++) {
            roads.add(new ArrayList<>());
        }
        for (int i = 0; i < m; i++) {
            int a = scanner.nextInt();
            int b = scanner.nextInt();
            int toll = scanner.nextInt();
            roads.get(a).add(new int[] {b, toll});
            roads.get(b).add(new int[] {a, toll});
        }
        go(1, 0, 0);
        System.out.println(bestCost == Long.MAX_VALUE ? "-1" : bestCost + " " + bestCount);
    }
}
