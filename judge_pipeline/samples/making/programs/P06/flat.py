import sys

data = sys.stdin.read().split()
height = int(data[0])
width = int(data[1])
# A frame of cells that can never be entered.
line = width + 2
cells = "X" * line
for row in data[2:]:
    cells += "X" + row + "X"
cells += "X" * line
size = len(cells)
start = cells.index("S")
goal = cells.index("G")

seen = [[False] * size, [False] * size]
seen[0][start] = True
now = [(start, 0)]
moves = 0
answer = -1
while now and answer < 0:
    following = []
    for cell, used in now:
        if cell == goal:
            answer = moves
            break
        for other in (cell + 1, cell - 1, cell + line, cell - line):
            mark = cells[other]
            if mark == "X":
                continue
            state = used
            if mark == "#":
                if used:
                    continue
                state = 1
            if not seen[state][other]:
                seen[state][other] = True
                following.append((other, state))
    now = following
    moves += 1
print(answer)
