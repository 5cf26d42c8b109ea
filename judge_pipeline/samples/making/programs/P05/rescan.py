line = input().strip()
pairs = {")": "(", "]": "[", "}": "{"}
closed = [False] * len(line)
result = None
for i in range(len(line)):
    if line[i] in "([{":
        continue
    # Look back for the nearest bracket that is still open.
    j = i - 1
    while j >= 0 and (closed[j] or line[j] in ")]}"):
        j -= 1
    if j < 0 or line[j] != pairs[line[i]]:
        result = i + 1
        break
    closed[j] = True
if result is None:
    left = sum(1 for i in range(len(line)) if line[i] in "([{" and not closed[i])
    result = "open " + str(left) if left else "ok"
print(result)
