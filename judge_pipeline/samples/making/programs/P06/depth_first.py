import sys

height, width = map(int, input().split())
grid = [input() for _ in range(height)]
best = {}


def visit(y, x, used, moves):
    if not (0 <= y < height and 0 <= x < width):
        return
    if grid[y][x] == "#":
        used += 1
    if used > 1 or best.get((y, x, used), 10**9) <= moves:
        return
    best[(y, x, used)] = moves
    visit(y + 1, x, used, moves + 1)
    visit(y - 1, x, used, moves + 1)
    visit(y, x + 1, used, moves + 1)
    visit(y, x - 1, used, moves + 1)


answer = -1
for y in range(height):
    for x in range(width):
        if grid[y][x] == "S":
            visit(y, x, 0, 0)
for (y, x, used), moves in best.items():
    if grid[y][x] == "G" and (answer == -1 or moves < answer):
        answer = moves
print(answer)
