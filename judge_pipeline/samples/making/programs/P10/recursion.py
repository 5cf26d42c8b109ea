import sys
from functools import lru_cache

MOD = 1000000007


@lru_cache(maxsize=None)
def ways(n):
    if n == 0:
        return 1
    if n == 1:
        return 3
    return (2 * ways(n - 1) + 2 * ways(n - 2)) % MOD


numbers = sys.stdin.read().split()
for number in numbers[1:]:
    print(ways(int(number)))
