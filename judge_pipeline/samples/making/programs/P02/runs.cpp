#include <iostream>
using namespace std;

int main() {
    int n, least;
    cin >> n >> least;
    int best = 0, first = 0;
    int length = 0;
    for (int day = 1; day <= n; day++) {
        int rain;
        cin >> rain;
        if (rain >= least) {
            length++;
            // A longer spell than any before: remember where it began.
            if (length > best) {
                best = length;
                first = day - length + 1;
            }
        } else {
            length = 0;
        }
    }
    cout << best << " " << first << endl;
    return 0;
}
