#include <stdio.h>

static long best[10001];

int main(void) {
    int n, budget, i, money;
    scanf("%d %d", &n, &budget);
    for (i = 0; i < n; i++) {
        int cost, gain;
        scanf("%d %d", &cost, &gain);
        for (money = budget; money >= cost; money--) {
            if (best[money - cost] + gain > best[money]) {
                best[money] = best[money - cost] + gain;
            }
        }
    }
    for (money = 0; money <= budget; money++) {
        if (best[money] == best[budget]) {
            printf("%ld %d\n", best[budget], money);
            break;
        }
    }
    return 0;
}
