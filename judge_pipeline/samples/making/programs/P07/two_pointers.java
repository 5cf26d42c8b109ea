import java.util.Arrays;
import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int n = scanner.nextInt();
        long x = scanner.nextLong();
        long a = scanner.nextLong();
        long c = scanner.nextLong();
        long m = scanner.nextLong();
        long least = scanner.nextLong();
        long[] strength = new long[n];
        for (int i = 0; i < n; i++) {
            strength[i] = x;
            x = (a * x + c) % m;
        }
        Arrays.sort(strength);

        long count = 0;
        int left = 0;
        int right = n - 1;
        while (left < right) {
            if (strength[left] + strength[right] >= least) {
                // All from left to right - 1 go with right.
                count += right - left;
                right--;
            } else {
                left++;
            }
        }
        System.out.println(count);
    }
}
