MOD = 10**9 + 7
memo = {}


def ways(n):
    # f(n) for any n by halving: join two rows, forbid red next to red.
    if n == 0:
        return 1
    if n == 1:
        return 3
    if n in memo:
        return memo[n]
    half = n // 2
    rest = n - half
    # All joinings, minus those where the last of one and the first of the other are red.
    value = ways(half) * ways(rest) - red_end(half) * red_end(rest)
    memo[n] = value % MOD
    return memo[n]


def red_end(n):
    # A red flag at the end needs a flag of another colour beside it.
    if n == 1:
        return 1
    return not_red_end(n - 1)


def not_red_end(n):
    return 2 * ways(n - 1) % MOD


q = int(input())
for _ in range(q):
    print(ways(int(input())))
