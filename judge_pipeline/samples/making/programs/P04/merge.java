import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.StringTokenizer;

public class Main {
    public static void main(String[] args) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        int n = Integer.parseInt(reader.readLine().trim());
        long[][] parts = new long[n][2];
        for (int i = 0; i < n; i++) {
            StringTokenizer tokens = new StringTokenizer(reader.readLine());
            parts[i][0] = Long.parseLong(tokens.nextToken());
            parts[i][1] = Long.parseLong(tokens.nextToken());
        }
        Arrays.sort(parts, (a, b) -> Long.compare(a[0], b[0]));

        long total = 0;
        long reach = parts[0][0];
        for (long[] part : parts) {
            long start = Math.max(reach, part[0]);
            if (part[1] > start) {
                total += part[1] - start;
                reach = part[1];
            }
        }
        System.out.println(total);
    }
}
