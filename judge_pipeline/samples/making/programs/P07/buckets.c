#include <stdio.h>

static int having[1000001];

int main(void) {
    long long n, x, a, c, m, least, i, ordered = 0, twice = 0;
    scanf("%lld %lld %lld %lld %lld %lld", &n, &x, &a, &c, &m, &least);
    for (i = 0; i < n; i++) {
        having[x]++;
        if (2 * x >= least) {
            twice++;
        }
        x = (a * x + c) % m;
    }
    long long above = 0, other = m;
    for (i = 0; i < m; i++) {
        while (other > 0 && other - 1 + i >= least) {
            other--;
            above += having[other];
        }
        ordered += having[i] * above;
    }
    printf("%lld\n", (ordered - twice) / 2);
    return 0;
}
