import sys


def check(line):
    waiting = []
    for position, char in enumerate(line, 1):
        if char == "(":
            waiting.append(")")
        elif char == "[":
            waiting.append("]")
        elif char == "{":
            waiting.append("}")
        else:
            if not waiting:
                return position
            if waiting.pop() != char:
                return position
    if waiting:
        return "open %d" % len(waiting)
    return "ok"


print(check(sys.stdin.readline().strip()))
