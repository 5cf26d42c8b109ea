import sys

MOD = 1000000007


def multiply(left, right):
    return [
        [sum(left[i][k] * right[k][j] for k in range(2)) % MOD for j in range(2)]
        for i in range(2)
    ]


def count_ways(n):
    # Rows of flags that end in red, and those that do not.
    power = [[1, 0], [0, 1]]
    base = [[0, 1], [2, 2]]
    exponent = n - 1
    while exponent > 0:
        if exponent % 2 == 1:
            power = multiply(power, base)
        base = multiply(base, base)
        exponent = exponent // 2
    red = power[0][0] + 2 * power[0][1]
    other = power[1][0] + 2 * power[1][1]
    return (red + other) % MOD


def main():
    tokens = sys.stdin.read().split()
    for token in tokens[1:]:
        print(count_ways(int(token)))


main()
