import heapq
import sys


def main():
    data = list(map(int, sys.stdin.read().split()))
    n, m = data[0], data[1]
    roads = [[] for _ in range(n + 1)]
    for i in range(m):
        a, b, toll = data[2 + 3 * i:5 + 3 * i]
        roads[a].append((b, toll))
        roads[b].append((a, toll))

    # best[town] = (toll, number of roads)
    best = [None] * (n + 1)
    heap = [(0, 0, 1)]
    while heap:
        cost, count, town = heapq.heappop(heap)
        if best[town] is not None:
            continue
        best[town] = (cost, count)
        for other, toll in roads[town]:
            if best[other] is None:
                heapq.heappush(heap, (cost + toll, count + 1, other))

    if best[n] is None:
        print(-1)
    else:
        print(best[n][0], best[n][1])


main()
