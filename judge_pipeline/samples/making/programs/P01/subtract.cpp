#include <cstdio>

int main() {
    int price, paid;
    scanf("%d %d", &price, &paid);
    int rest = paid - price;
    if (rest < 0) {
        printf("short %d\n", -rest);
        return 0;
    }
    int coins[6] = {500, 100, 50, 10, 5, 1};
    int count = 0;
    for (int i = 0; i < 6; i++) {
        while (rest >= coins[i]) {
            rest -= coins[i];
            count++;
        }
    }
    printf("%d\n", count);
    return 0;
}
