head = input().split()
first_hour, first_minute = map(int, head[0].split(":"))
last_hour, last_minute = map(int, head[1].split(":"))
every = int(head[2])
q = int(head[3])

first = first_hour * 60 + first_minute
last = last_hour * 60 + last_minute
if last < first:
    last += 1440

leaves = [False] * 1440
bus = first
while bus <= last:
    leaves[bus % 1440] = True
    bus += every

for _ in range(q):
    hour, minute = map(int, input().split(":"))
    now = hour * 60 + minute
    while not leaves[now]:
        now = (now + 1) % 1440
    print("{:02}:{:02}".format(now // 60, now % 60))
