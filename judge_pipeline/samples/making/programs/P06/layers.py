from collections import deque


def main():
    height, width = map(int, input().split())
    grid = [input() for _ in range(height)]
    for y in range(height):
        for x in range(width):
            if grid[y][x] == "S":
                start = (y, x)
            elif grid[y][x] == "G":
                goal = (y, x)

    # One layer of distances with the charge, one without it.
    steps = [[[-1] * width for _ in range(height)] for _ in range(2)]
    steps[0][start[0]][start[1]] = 0
    queue = deque([(start[0], start[1], 0)])
    while queue:
        y, x, used = queue.popleft()
        if (y, x) == goal:
            print(steps[used][y][x])
            return
        for dy, dx in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            ny = y + dy
            nx = x + dx
            if not (0 <= ny < height and 0 <= nx < width):
                continue
            after = used
            if grid[ny][nx] == "#":
                after += 1
            if after <= 1 and steps[after][ny][nx] == -1:
                steps[after][ny][nx] = steps[used][y][x] + 1
                queue.append((ny, nx, after))
    print(-1)


main()
