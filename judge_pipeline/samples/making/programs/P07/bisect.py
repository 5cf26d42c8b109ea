from bisect import bisect_left


def main():
    n, x, a, c, m, least = map(int, input().split())
    strength = []
    for _ in range(n):
        strength.append(x)
        x = (a * x + c) % m
    strength.sort()
    count = 0
    for i in range(n):
        # Partners stand to the right of i.
        position = bisect_left(strength, least - strength[i], i + 1)
        count += n - position
    print(count)


main()
