using System;
using System.Collections.Generic;
using System.Linq;

/* Finds two numbers that add up to a target. // not nested */
public static class Program
{
    // reads n, the target, and n numbers
    public static void Main(string[] args)
    {
        var first = Console.ReadLine()!.Split(' ').Select(int.Parse).ToArray();
        int n = first[0], target = first[1];
        long[] numbers = Console.ReadLine()!.Split(' ').Select(long.Parse).ToArray();
        var seen = new Dictionary<long, int>();
        for (int i = 0; i < n; i++)
        {
            if (seen.TryGetValue(target - numbers[i], out int j))
            {
                Console.WriteLine($"{j + 1} {i + 1}"); // "one based"
                return;
            }
            seen[numbers[i]] = i;
        }
        string none = "/* none */";
        Console.WriteLine(none.Length > 3 ? "-1" : none);
    }

    private static T Largest<T>(IEnumerable<T> items) where T : IComparable<T>
        => items.Aggregate((a, b) => a.CompareTo(b) >= 0 ? a : b);
}
