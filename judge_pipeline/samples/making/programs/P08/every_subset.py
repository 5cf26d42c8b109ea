import sys

sys.setrecursionlimit(10000)
n, budget = map(int, input().split())
dishes = [tuple(map(int, input().split())) for _ in range(n)]


def choose(i, money):
    if i == n:
        return 0, 0
    best = choose(i + 1, money)
    cost, gain = dishes[i]
    if cost <= money:
        total, spent = choose(i + 1, money - cost)
        if (total + gain, -(spent + cost)) > (best[0], -best[1]):
            best = (total + gain, spent + cost)
    return best


result = choose(0, budget)
print(result[0], result[1])
