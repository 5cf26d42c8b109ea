import * as fs from 'fs';

// Finds two numbers that add up to a target.
interface Pair { readonly first: number; second?: number }
type Found = Pair | undefined;

const lines: string[] = fs.readFileSync(0, 'utf8').split('\n');
const [n, target] = lines[0].split(' ').map(Number) as [number, number];

/* from value to place */
function find<T extends number>(numbers: T[], wanted: number): Found {
  const seen = new Map<number, number>();
  for (let i = 0; i < numbers.length; i++) {
    const j = seen.get(wanted - numbers[i]);
    if (j !== undefined) return { first: j + 1, second: i + 1 }; // one based
    seen.set(numbers[i], i);
  }
  return undefined;
}

enum Kind { Few = 1, Many }
abstract class Shown { constructor(private readonly kind: Kind) {} abstract show(): string; }
const pair = find(lines[1].split(' ').map(Number).slice(0, n), target);
console.log(pair ? `${pair.first} ${pair.second!}` : '-1');
