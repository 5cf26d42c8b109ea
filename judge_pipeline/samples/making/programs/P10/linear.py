MOD = 1000000007
q = int(input())
for _ in range(q):
    n = int(input())
    red = 1
    other = 2
    for _ in range(n - 1):
        red, other = other, 2 * (red + other) % MOD
    print((red + other) % MOD)
