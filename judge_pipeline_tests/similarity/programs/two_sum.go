package main

import (
	"bufio"
	"fmt"
	"os"
)

/* Pair is two places. */
type Pair struct {
	First, Second int
}

// find gives the first pair that adds up to the target
func find(numbers []int, target int) (Pair, bool) {
	seen := map[int]int{}
	for i, value := range numbers {
		if j, ok := seen[target-value]; ok {
			return Pair{j + 1, i + 1}, true // one based
		}
		seen[value] = i
	}
	return Pair{}, false
}

func main() {
	in := bufio.NewReader(os.Stdin)
	var n, target int
	fmt.Fscan(in, &n, &target)
	numbers := make([]int, n)
	for i := range numbers {
		fmt.Fscan(in, &numbers[i])
	}
	switch pair, ok := find(numbers, target); {
	case ok:
		fmt.Println(pair.First, pair.Second)
	default:
		fmt.Println("-1", `/* none */`[:0])
	}
	done := make(chan bool)
	go func() { defer close(done); done <- true }()
	<-done
}
