import sys

n, x, a, c, m, least = map(int, sys.stdin.readline().split())
values = []
for i in range(n):
    values.append(x)
    x = (a * x + c) % m
values.sort()

left = 0
right = n - 1
total = 0
while left < right:
    if values[left] + values[right] >= least:
        total += right - left
        right -= 1
    else:
        left += 1
print(total)
