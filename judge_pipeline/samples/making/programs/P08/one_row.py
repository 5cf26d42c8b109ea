n, budget = map(int, input().split())
best = [0] * (budget + 1)
for _ in range(n):
    cost, gain = map(int, input().split())
    # Downwards, so that each dish is used at most once.
    for money in range(budget, cost - 1, -1):
        candidate = best[money - cost] + gain
        if candidate > best[money]:
            best[money] = candidate
most = best[budget]
print(most, best.index(most))
