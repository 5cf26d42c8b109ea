import java.util.Scanner;

public class Main {
    static int n, budget, most = 0, cheapest = 0;
    static int[] cost, gain;

    static void choose(int i, int spent, int total) {
        if (spent > budget) {
            return;
        }
        if (i == n) {
            if (total > most || (total == most && spent < cheapest)) {
                most = total;
                cheapest = spent;
            }
            return;
        }
        choose(i + 1, spent + cost[i], total + gain[i]);
        choose(i + 1, spent, total);
    }

    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        n = scanner.nextInt();
        budget = scanner.nextInt();
        cost = new int[n];
        gain = new int[n];
        for (int i = 0; i < n; i++) {
            cost[i] = scanner.nextInt();
            gain[i] = scanner.nextInt();
        }
        choose(0, 0, 0);
        System.out.println(most + " " + cheapest);
    }
}
