n, m = map(int, input().split())
roads = [tuple(map(int, input().split())) for _ in range(m)]
far = (10**18, 0)
best = [far] * (n + 1)
best[1] = (0, 0)
# n rounds are always enough.
for _ in range(n):
    for a, b, toll in roads:
        if best[a] != far:
            best[b] = min(best[b], (best[a][0] + toll, best[a][1] + 1))
        if best[b] != far:
            best[a] = min(best[a], (best[b][0] + toll, best[b][1] + 1))
if best[n] == far:
    print(-1)
else:
    print(best[n][0], best[n][1])
