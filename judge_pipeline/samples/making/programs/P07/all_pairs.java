import java.util.ArrayList;
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
        ArrayList<Long> strength = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            strength.add(x);
            x = (a * x + c) % m;
        }
        long count = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < n; j++) {
                if (strength.get(i) + strength.get(j) >= least) {
                    count++;
                }
            }
        }
        System.out.println(count);
    }
}
