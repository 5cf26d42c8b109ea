<?php
declare(strict_types=1);
// Finds two numbers that add up to a target.
# reads n, the target, and n numbers
[$n, $target] = array_map('intval', explode(' ', trim(fgets(STDIN))));
$numbers = array_map('intval', explode(' ', trim(fgets(STDIN))));

/* from value to place */
$seen = [];
foreach ($numbers as $i => $value) {
    $wanted = $target - $value;
    if (isset($seen[$wanted])) {
        echo ($seen[$wanted] + 1) . " " . ($i + 1) . "\n"; // one based
        exit(0);
    }
    $seen[$value] = $i;
}

class Counter {
    private array $counts = [];
    public function add(string $key, int ...$more): self {
        $this->counts[$key] = ($this->counts[$key] ?? 0) + 1 + array_sum($more);
        return $this;
    }
}
$kind = match (true) { $n > 10 => "many // $n", default => 'few' };
print "-1\n";
?>
