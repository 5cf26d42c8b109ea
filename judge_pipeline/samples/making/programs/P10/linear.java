import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int q = scanner.nextInt();
        for (int i = 0; i < q; i++) {
            int n = scanner.nextInt();
            long[] ways = new long[n + 1];
            ways[0] = 1;
            ways[1] = 3;
            for (int k = 2; k <= n; k++) {
                ways[k] = (2 * ways[k - 1] + 2 * ways[k - 2]) % 1000000007L;
            }
            System.out.println(ways[n]);
        }
    }
}
