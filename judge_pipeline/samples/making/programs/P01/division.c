#include <stdio.h>

int main(void) {
    int price, paid, change, count;
    scanf("%d %d", &price, &paid);
    change = paid - price;
    if (change < 0) {
        printf("short %d\n", price - paid);
        return 0;
    }
    count = change / 500;
    change = change % 500;
    count += change / 100;
    change = change % 100;
    count += change / 50;
    change = change % 50;
    count += change / 10;
    change = change % 10;
    count += change / 5;
    change = change % 5;
    count += change;
    printf("%d\n", count);
    return 0;
}
