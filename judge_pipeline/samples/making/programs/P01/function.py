import sys


def count_coins(amount):
    total = 0
    for coin in (500, 100, 50, 10, 5, 1):
        used, amount = divmod(amount, coin)
        total += used
    return total


def main():
    price, paid = map(int, sys.stdin.readline().split())
    difference = paid - price
    if difference >= 0:
        print(count_coins(difference))
    else:
        print("short " + str(-difference))


main()
