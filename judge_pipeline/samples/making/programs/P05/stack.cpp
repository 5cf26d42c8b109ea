#include <iostream>
#include <stack>
#include <string>
using namespace std;

int main() {
    string line;
    cin >> line;
    stack<char> opened;
    for (size_t i = 0; i < line.size(); i++) {
        char c = line[i];
        if (c == '(' || c == '[' || c == '{') {
            opened.push(c);
            continue;
        }
        // A closing bracket needs its partner on top of the stack.
        if (opened.empty()) {
            cout << i + 1 << endl;
            return 0;
        }
        char top = opened.top();
        opened.pop();
        bool matches = (top == '(' && c == ')') || (top == '[' && c == ']') || (top == '{' && c == '}');
        if (!matches) {
            cout << i + 1 << endl;
            return 0;
        }
    }
    if (opened.empty()) {
        cout << "ok" << endl;
    } else {
        cout << "open " << opened.size() << endl;
    }
    return 0;
}
