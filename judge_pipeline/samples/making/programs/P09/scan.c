#include <stdio.h>

#define MAX_TOWNS 4001
#define MAX_ROADS 8000
#define FAR 4000000000000000000LL

static int first[MAX_TOWNS], following[2 * MAX_ROADS], target[2 * MAX_ROADS];
static long long price[2 * MAX_ROADS];
static long long cost[MAX_TOWNS];
static int count[MAX_TOWNS], done[MAX_TOWNS];

int main(void) {
    int n, m, i, roads = 0;
    scanf("%d %d", &n, &m);
    for (i = 1; i <= n; i++) {
        first[i] = -1;
        cost[i] = FAR;
    }
    for (i = 0; i < m; i++) {
        int a, b;
        long long toll;
        scanf("%d %d %lld", &a, &b, &toll);
        target[roads] = b;
        price[roads] = toll;
        following[roads] = first[a];
        first[a] = roads++;
        target[roads] = a;
        price[roads] = toll;
        following[roads] = first[b];
        first[b] = roads++;
    }
    cost[1] = 0;
    while (1) {
        int town = -1, road;
        for (i = 1; i <= n; i++) {
            if (done[i] || cost[i] == FAR) {
                continue;
            }
            if (town < 0 || cost[i] < cost[town] || (cost[i] == cost[town] && count[i] < count[town])) {
                town = i;
            }
        }
        if (town < 0) {
            break;
        }
        done[town] = 1;
        for (road = first[town]; road >= 0; road = following[road]) {
            int other = target[road];
            long long sum = cost[town] + price[road];
            if (sum < cost[other] || (sum == cost[other] && count[town] + 1 < count[other])) {
                cost[other] = sum;
                count[other] = count[town] + 1;
            }
        }
    }
    if (cost[n] == FAR) {
        printf("-1\n");
    } else {
        printf("%lld %d\n", cost[n], count[n]);
    }
    return 0;
}
