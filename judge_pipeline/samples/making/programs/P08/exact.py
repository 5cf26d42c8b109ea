import sys


def main():
    data = list(map(int, sys.stdin.read().split()))
    n, budget = data[0], data[1]
    # best[spent] is the satisfaction for spending exactly that much, or -1.
    best = [-1] * (budget + 1)
    best[0] = 0
    for i in range(n):
        cost = data[2 + 2 * i]
        gain = data[3 + 2 * i]
        for spent in range(budget - cost, -1, -1):
            if best[spent] >= 0:
                best[spent + cost] = max(best[spent + cost], best[spent] + gain)
    most = max(best)
    print(most, best.index(most))


main()
