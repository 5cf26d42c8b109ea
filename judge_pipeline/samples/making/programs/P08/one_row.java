import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int n = scanner.nextInt();
        int budget = scanner.nextInt();
        int[] best = new int[budget + 1];
        for (int i = 0; i < n; i++) {
            int cost = scanner.nextInt();
            int gain = scanner.nextInt();
            for (int money = budget; money >= cost; money--) {
                best[money] = Math.max(best[money], best[money - cost] + gain);
            }
        }
        // The first amount that already gives everything.
        int cheapest = 0;
        while (best[cheapest] < best[budget]) {
            cheapest++;
        }
        System.out.println(best[budget] + " " + cheapest);
    }
}
