line = input().strip()
pairs = {")": "(", "]": "[", "}": "{"}

stack = []
answer = None
for index, char in enumerate(line):
    if char in "([{":
        stack.append(char)
    elif stack and stack[-1] == pairs[char]:
        stack.pop()
    else:
        # The first bracket that breaks the rule.
        answer = str(index + 1)
        break

if answer is None:
    if stack:
        answer = "open " + str(len(stack))
    else:
        answer = "ok"
print(answer)
