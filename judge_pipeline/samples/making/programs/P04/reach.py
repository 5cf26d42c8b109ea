n = int(input())
parts = [tuple(map(int, input().split())) for _ in range(n)]
parts.sort()
reach = -10**18
total = 0
for left, right in parts:
    start = max(left, reach)
    if right > start:
        total += right - start
        reach = right
print(total)
