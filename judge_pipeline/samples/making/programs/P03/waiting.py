import sys


def to_minutes(text):
    hour, minute = text.split(":")
    return int(hour) * 60 + int(minute)


def main():
    tokens = sys.stdin.read().split()
    first = to_minutes(tokens[0])
    last = to_minutes(tokens[1])
    every = int(tokens[2])
    if last < first:
        last += 24 * 60
    departures = range(first, last + 1, every)
    for token in tokens[4:]:
        arrival = to_minutes(token)
        # Wait as little as possible, also across midnight.
        wait = min((bus - arrival) % 1440 for bus in departures)
        answer = (arrival + wait) % 1440
        print("%02d:%02d" % (answer // 60, answer % 60))


main()
