#include <stdio.h>

static long long strength[200000];

int main(void) {
    long long n, x, a, c, m, least, count = 0;
    int i, j;
    scanf("%lld %lld %lld %lld %lld %lld", &n, &x, &a, &c, &m, &least);
    for (i = 0; i < n; i++) {
        strength[i] = x;
        x = (a * x + c) % m;
    }
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            if (strength[i] + strength[j] >= least) {
                count++;
            }
        }
    }
    printf("%lld\n", count);
    return 0;
}
