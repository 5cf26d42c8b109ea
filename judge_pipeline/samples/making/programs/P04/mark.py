n = int(input())
painted = set()
for _ in range(n):
    left, right = map(int, input().split())
    for x in range(left, right):
        painted.add(x)
print(len(painted))
