import scala.collection.mutable
import scala.io.StdIn

/* Finds two numbers that add up to a target. /* nested */ */
case class Pair(first: Int, second: Int)

trait Shown[A] { def show(a: A): String }

object Main {
  // from value to place
  def find(numbers: Seq[Long], target: Long): Option[Pair] = {
    val seen = mutable.Map.empty[Long, Int]
    for ((value, i) <- numbers.zipWithIndex) {
      seen.get(target - value) match {
        case Some(j) => return Some(Pair(j + 1, i + 1))
        case None => seen(value) = i
      }
    }
    None
  }

  def main(args: Array[String]): Unit = {
    val Array(n, target) = StdIn.readLine().split(" ").map(_.toLong)
    val numbers = StdIn.readLine().split(" ").map(_.toLong).take(n.toInt).toSeq
    println(find(numbers, target).map(p => s"${p.first} ${p.second}").getOrElse("-1 // none".take(2)))
  }
}
