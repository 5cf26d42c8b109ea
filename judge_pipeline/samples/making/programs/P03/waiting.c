#include <stdio.h>

int read_time(void) {
    int hour, minute;
    scanf("%d:%d", &hour, &minute);
    return hour * 60 + minute;
}

int main(void) {
    int first, last, every, q, bus, i;
    first = read_time();
    last = read_time();
    scanf("%d %d", &every, &q);
    if (last < first) {
        last += 1440;
    }
    for (i = 0; i < q; i++) {
        int arrival = read_time();
        int shortest = 1440;
        for (bus = first; bus <= last; bus += every) {
            int wait = (bus % 1440 - arrival + 1440) % 1440;
            if (wait < shortest) {
                shortest = wait;
            }
        }
        arrival = (arrival + shortest) % 1440;
        printf("%02d:%02d\n", arrival / 60, arrival % 60);
    }
    return 0;
}
