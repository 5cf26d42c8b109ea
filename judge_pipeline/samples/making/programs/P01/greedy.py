price, paid = map(int, input().split())

if paid < price:
    # Tell how much money is missing.
    print("short", price - paid)
else:
    change = paid - price
    count = 0
    for coin in [500, 100, 50, 10, 5, 1]:
        count += change // coin
        change %= coin
    print(count)
