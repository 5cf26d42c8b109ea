import java.util.Scanner;

public class Main {
    static final long MOD = 1000000007L;

    static long[][] multiply(long[][] left, long[][] right) {
        long[][] result = new long[2][2];
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                long sum = 0;
                for (int k = 0; k < 2; k++) {
                    sum += left[i][k] * right[k][j] % MOD;
                }
                result[i][j] = sum % MOD;
            }
        }
        return result;
    }

    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int q = scanner.nextInt();
        for (int i = 0; i < q; i++) {
            long n = scanner.nextLong();
            long[][] base = {{2, 2}, {1, 0}};
            long[][] power = {{1, 0}, {0, 1}};
            // f(1) = 3, f(0) = 1
            long exponent = n - 1;
            while (exponent > 0) {
                if (exponent % 2 == 1) {
                    power = multiply(power, base);
                }
                base = multiply(base, base);
                exponent /= 2;
            }
            System.out.println((power[0][0] * 3 + power[0][1]) % MOD);
        }
    }
}
