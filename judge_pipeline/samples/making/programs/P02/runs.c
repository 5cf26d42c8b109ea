#include <stdio.h>

int rain[1005];

int main(void) {
    int n, least, i;
    int best = 0, first = 0, length = 0;
    scanf("%d %d", &n, &least);
    for (i = 1; i <= n; i++) {
        scanf("%d", &rain[i]);
    }
    for (i = 1; i <= n + 1; i++) {
        if (i <= n && rain[i] >= least) {
            length++;
        } else {
            if (length > best) {
                best = length;
                first = i - length;
            }
            length = 0;
        }
    }
    printf("%d %d\n", best, first);
    return 0;
}
