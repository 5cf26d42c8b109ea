import sys
from itertools import groupby

data = list(map(int, sys.stdin.read().split()))
n, least = data[0], data[1]
rain = data[2:]

best = 0
first = 0
position = 1
for rainy, group in groupby(rain, lambda value: value >= least):
    size = len(list(group))
    if rainy and size > best:
        best = size
        first = position
    position += size
print(best, first)
