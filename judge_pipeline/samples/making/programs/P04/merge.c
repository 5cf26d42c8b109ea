#include <stdio.h>
#include <stdlib.h>

typedef struct {
    long long from;
    long long to;
} Part;

static Part parts[5000];

static int compare(const void *one, const void *other) {
    const Part *a = one;
    const Part *b = other;
    if (a->from < b->from) {
        return -1;
    }
    return a->from > b->from;
}

int main(void) {
    int n, i;
    long long total = 0, reach;
    scanf("%d", &n);
    for (i = 0; i < n; i++) {
        scanf("%lld %lld", &parts[i].from, &parts[i].to);
    }
    qsort(parts, n, sizeof(Part), compare);
    reach = parts[0].from;
    for (i = 0; i < n; i++) {
        if (parts[i].from > reach) {
            reach = parts[i].from;
        }
        if (parts[i].to > reach) {
            total += parts[i].to - reach;
            reach = parts[i].to;
        }
    }
    printf("%lld\n", total);
    return 0;
}
