import Foundation

/* Finds two numbers that add up to a target. */
struct Pair: Equatable {
    let first: Int
    var second: Int
}

enum Kind: String, CaseIterable { case few, many }

func find(_ numbers: [Int], target: Int) -> Pair? {
    var seen: [Int: Int] = [:] // from value to place
    for (i, value) in numbers.enumerated() {
        if let j = seen[target - value] {
            return Pair(first: j + 1, second: i + 1)
        }
        seen[value] = i
    }
    return nil
}

let head = readLine()!.split(separator: " ").compactMap { Int($0) }
guard head.count == 2 else { fatalError("two numbers // wanted") }
let numbers = readLine()!.split(separator: " ").compactMap { Int($0) }
if let pair = find(Array(numbers.prefix(head[0])), target: head[1]) {
    print("\(pair.first) \(pair.second)")
} else {
    print(-1)
}
