n, budget = map(int, input().split())
dishes = [tuple(map(int, input().split())) for _ in range(n)]
dishes.sort(key=lambda dish: dish[1] / dish[0], reverse=True)
total = 0
spent = 0
for cost, gain in dishes:
    if spent + cost <= budget:
        spent += cost
        total += gain
print(total, spent)
