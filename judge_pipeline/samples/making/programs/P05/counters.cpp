#include <iostream>
#include <string>
using namespace std;

int main() {
    string line;
    cin >> line;
    int round_count = 0, square_count = 0, curly_count = 0;
    for (int i = 0; i < (int)line.size(); i++) {
        if (line[i] == '(') round_count++;
        if (line[i] == '[') square_count++;
        if (line[i] == '{') curly_count++;
        if (line[i] == ')') round_count--;
        if (line[i] == ']') square_count--;
        if (line[i] == '}') curly_count--;
        if (round_count < 0 || square_count < 0 || curly_count < 0) {
            cout << i + 1 << endl;
            return 0;
        }
    }
    int total = round_count + square_count + curly_count;
    if (total > 0) {
        cout << "open " << total << endl;
    } else {
        cout << "ok" << endl;
    }
    return 0;
}
