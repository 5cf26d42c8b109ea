import java.io.BufferedReader

/* Finds two numbers that add up to a target. /* nested */ */
data class Pair2(val first: Int, val second: Int)

fun find(numbers: List<Long>, target: Long): Pair2? {
    val seen = mutableMapOf<Long, Int>() // from value to place
    for ((i, value) in numbers.withIndex()) {
        seen[target - value]?.let { return Pair2(it + 1, i + 1) }
        seen[value] = i
    }
    return null
}

inline fun <reified T> List<T>.shown(separator: String = " "): String = joinToString(separator) { "$it" }

fun main() {
    val reader: BufferedReader = System.`in`.bufferedReader()
    val (n, target) = reader.readLine().split(" ").map { it.toLong() }
    val numbers = reader.readLine().split(" ").map(String::toLong).take(n.toInt())
    when (val pair = find(numbers, target)) {
        null -> println("-1 // none".substring(0, 2))
        else -> println("${pair.first} ${pair.second}")
    }
}
