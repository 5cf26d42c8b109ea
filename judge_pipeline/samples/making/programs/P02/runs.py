n, least = map(int, input().split())
rain = list(map(int, input().split()))

best = 0
first = 0
start = 0
length = 0
for day in range(1, n + 1):
    if rain[day - 1] >= least:
        if length == 0:
            start = day
        length += 1
        if length > best:
            best = length
            first = start
    else:
        length = 0
print(best, first)
