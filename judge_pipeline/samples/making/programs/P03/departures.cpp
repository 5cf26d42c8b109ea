#include <cstdio>
#include <algorithm>
#include <vector>
using namespace std;

int main() {
    int hour, minute, every, q;
    scanf("%d:%d", &hour, &minute);
    int first = hour * 60 + minute;
    scanf("%d:%d", &hour, &minute);
    int last = hour * 60 + minute;
    scanf("%d %d", &every, &q);
    // The service may run past midnight.
    if (last < first) {
        last += 1440;
    }
    vector<int> departures;
    for (int time = first; time <= last; time += every) {
        departures.push_back(time % 1440);
    }
    sort(departures.begin(), departures.end());
    while (q--) {
        scanf("%d:%d", &hour, &minute);
        int arrival = hour * 60 + minute;
        auto next = lower_bound(departures.begin(), departures.end(), arrival);
        int answer = (next == departures.end()) ? departures[0] : *next;
        printf("%02d:%02d\n", answer / 60, answer % 60);
    }
    return 0;
}
