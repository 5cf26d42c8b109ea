import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int price = scanner.nextInt();
        int paid = scanner.nextInt();
        int[] coins = {500, 100, 50, 10, 5, 1};

        // The visitor has to pay at least the price.
        if (paid < price) {
            System.out.println("short " + (price - paid));
            return;
        }

        int change = paid - price;
        int count = 0;
        for (int coin : coins) {
            count += change / coin;
            change %= coin;
        }
        System.out.println(count);
    }
}
