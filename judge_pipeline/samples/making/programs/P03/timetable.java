import java.util.Scanner;
import java.util.TreeSet;

public class Main {
    static int toMinutes(String text) {
        String[] parts = text.split(":");
        return Integer.parseInt(parts[0]) * 60 + Integer.parseInt(parts[1]);
    }

    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        int first = toMinutes(scanner.next());
        int last = toMinutes(scanner.next());
        int every = scanner.nextInt();
        int q = scanner.nextInt();
        if (last < first) {
            last += 1440;
        }
        TreeSet<Integer> departures = new TreeSet<>();
        for (int time = first; time <= last; time += every) {
            departures.add(time % 1440);
        }
        for (int i = 0; i < q; i++) {
            int arrival = toMinutes(scanner.next());
            Integer answer = departures.ceiling(arrival);
            if (answer == null) {
                // No bus is left today.
                answer = departures.first();
            }
            System.out.println(String.format("%02d:%02d", answer / 60, answer % 60));
        }
    }
}
