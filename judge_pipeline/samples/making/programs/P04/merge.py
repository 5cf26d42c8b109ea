import sys


def main():
    data = list(map(int, sys.stdin.read().split()))
    n = data[0]
    parts = []
    for i in range(n):
        parts.append((data[2 * i + 1], data[2 * i + 2]))
    parts.sort()

    total = 0
    left, right = parts[0]
    for start, end_point in parts[1:]:
        if start > right:
            # A gap: the block before it is complete.
            total += right - left
            left, right = start, end_point
        else:
            right = max(right, end_point)
    total += right - left
    print(total)


main()
