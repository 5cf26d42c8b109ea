import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner scanner = new Scanner(System.in);
        String line = scanner.next();
        String rest = "";
        for (int i = 0; i < line.length(); i++) {
            rest += line.charAt(i);
            rest = rest.replace("()", "").replace("[]", "").replace("{}", "");
            if (rest.contains(")") || rest.contains("]") || rest.contains("}")) {
                System.out.println(i + 1);
                return;
            }
        }
        System.out.println(rest.isEmpty() ? "ok" : "open " + rest.length());
    }
}
