#include <bits/stdc++.h>
using namespace std;

int main() {
    string line;
    getline(cin, line);
    map<char, char> partner = {{')', '('}, {']', '['}, {'}', '{'}};
    vector<char> waiting;
    int position = 0;
    for (char c : line) {
        position++;
        if (partner.count(c) == 0) {
            waiting.push_back(c);
        } else if (!waiting.empty() && waiting.back() == partner[c]) {
            waiting.pop_back();
        } else {
            cout << position << "\n";
            return 0;
        }
    }
    if (waiting.size() > 0) {
        cout << "open " << waiting.size() << "\n";
    } else {
        cout << "ok\n";
    }
    return 0;
}
