import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.StringTokenizer;

public class Main {
    public static void main(String[] args) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        StringTokenizer tokens = new StringTokenizer(reader.readLine());
        int n = Integer.parseInt(tokens.nextToken());
        int m = Integer.parseInt(tokens.nextToken());
        List<List<long[]>> roads = new ArrayList<>();
        for (int i = 0; i <= n; i++) {
            roads.add(new ArrayList<>());
        }
        for (int i = 0; i < m; i++) {
            tokens = new StringTokenizer(reader.readLine());
            int a = Integer.parseInt(tokens.nextToken());
            int b = Integer.parseInt(tokens.nextToken());
            long toll = Long.parseLong(tokens.nextToken());
            roads.get(a).add(new long[] {b, toll});
            roads.get(b).add(new long[] {a, toll});
        }

        long[] cost = new long[n + 1];
        long[] count = new long[n + 1];
        boolean[] done = new boolean[n + 1];
        // Entries are {toll, roads, town}.
        PriorityQueue<long[]> heap = new PriorityQueue<>((p, q) -> p[0] != q[0] ? Long.compare(p[0], q[0]) : Long.compare(p[1], q[1]));
        heap.add(new long[] {0, 0, 1});
        while (!heap.isEmpty()) {
            long[] entry = heap.poll();
            int town = (int) entry[2];
            if (done[town]) {
                continue;
            }
            done[town] = true;
            cost[town] = entry[0];
            count[town] = entry[1];
            for (long[] road : roads.get(town)) {
                if (!done[(int) road[0]]) {
                    heap.add(new long[] {entry[0] + road[1], entry[1] + 1, road[0]});
                }
            }
        }
        System.out.println(done[n] ? cost[n] + " " + count[n] : "-1");
    }
}
