import java.util.BitSet;
import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int n = scanner.nextInt();
        int shift = 2000000000;
        boolean[] painted = new boolean[Integer.MAX_VALUE - 8];
        long total = 0;
        for (int i = 0; i < n; i++) {
            int left = scanner.nextInt();
            int right = scanner.nextInt();
            for (int x = left; x < right; x++) {
                if (!painted[x + shift]) {
                    painted[x + shift] = true;
                    total++;
                }
            }
        }
        System.out.println(total);
    }
}
