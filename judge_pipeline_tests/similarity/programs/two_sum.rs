use std::collections::HashMap;
use std::io::{self, Read};

/// Finds two numbers that add up to a target.
fn find(numbers: &[i64], target: i64) -> Option<(usize, usize)> {
    let mut seen: HashMap<i64, usize> = HashMap::new(); // from value to place
    for (i, &value) in numbers.iter().enumerate() {
        if let Some(&j) = seen.get(&(target - value)) {
            return Some((j + 1, i + 1));
        }
        seen.insert(value, i);
    }
    None
}

/* a trait, to have one /* nested */ here */
trait Shown {
    fn shown(&self) -> String;
}

impl<'a> Shown for &'a [i64] {
    fn shown(&self) -> String {
        self.iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
    }
}

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let mut words = text.split_whitespace().map(|w| w.parse::<i64>().unwrap());
    let (n, target) = (words.next().unwrap() as usize, words.next().unwrap());
    let numbers: Vec<i64> = words.take(n).collect();
    match find(&numbers, target) {
        Some((a, b)) => println!("{} {}", a, b),
        None => println!("{}", "-1 // none".len() as i64 - 11),
    }
}
