from heapq import heappush, heappop

n, m = map(int, input().split())
graph = [[] for _ in range(n)]
for _ in range(m):
    a, b, toll = map(int, input().split())
    weight = toll * 10000 + 1
    graph[a - 1].append((b - 1, weight))
    graph[b - 1].append((a - 1, weight))

far = 10**18
distance = [far] * n
distance[0] = 0
heap = [(0, 0)]
while heap:
    cost, here = heappop(heap)
    if cost > distance[here]:
        continue
    for other, weight in graph[here]:
        candidate = cost + weight
        if candidate < distance[other]:
            distance[other] = candidate
            heappush(heap, (candidate, other))

answer = distance[n - 1]
if answer == far:
    print(-1)
else:
    print(answer // 10000, answer % 10000)
