#include <iostream>
#include <vector>
using namespace std;

int main() {
    int price, paid;
    cin >> price >> paid;

    // Not enough money: report the missing amount.
    if (paid < price) {
        cout << "short " << price - paid << endl;
        return 0;
    }

    vector<int> coins = {500, 100, 50, 10, 5, 1};
    int change = paid - price;
    int count = 0;
    for (int coin : coins) {
        count += change / coin;
        change %= coin;
    }
    cout << count << endl;
    return 0;
}
