#include <stdio.h>
#include <string.h>

#define MOD 1000000007LL

static void multiply(long long left[2][2], long long right[2][2]) {
    long long product[2][2];
    int i, j;
    for (i = 0; i < 2; i++) {
        for (j = 0; j < 2; j++) {
            product[i][j] = (left[i][0] * right[0][j] + left[i][1] * right[1][j]) % MOD;
        }
    }
    memcpy(left, product, sizeof(product));
}

int main(void) {
    int q;
    scanf("%d", &q);
    while (q-- > 0) {
        long long n;
        long long base[2][2] = {{2, 2}, {1, 0}};
        long long power[2][2] = {{1, 0}, {0, 1}};
        scanf("%lld", &n);
        for (; n > 0; n /= 2) {
            long long copy[2][2];
            if (n % 2 == 1) {
                multiply(power, base);
            }
            memcpy(copy, base, sizeof(base));
            multiply(base, copy);
        }
        /* f(n) = power[1][0] * 3 + power[1][1] * 1 */
        printf("%lld\n", (power[1][0] * 3 + power[1][1]) % MOD);
    }
    return 0;
}
