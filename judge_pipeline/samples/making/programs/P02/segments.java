import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int n = scanner.nextInt();
        int least = scanner.nextInt();
        int[] rain = new int[n];
        for (int i = 0; i < n; i++) {
            rain[i] = scanner.nextInt();
        }
        int best = 0;
        int first = 0;
        for (int left = 0; left < n; left++) {
            int right = left;
            while (right < n && rain[right] >= least) {
                right++;
            }
            int length = right - left;
            if (length > best) {
                best = length;
                first = left + 1;
            }
        }
        System.out.println(best + " " + first);
    }
}
