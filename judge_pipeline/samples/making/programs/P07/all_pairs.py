n, x, a, c, m, least = map(int, input().split())
strength = [x]
while len(strength) < n:
    strength.append((a * strength[-1] + c) % m)

count = 0
for i in range(n):
    for j in range(i + 1, n):
        if strength[i] + strength[j] >= least:
            count += 1
print(count)
