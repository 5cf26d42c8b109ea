'use strict';
// Finds two numbers that add up to a target.
const lines = require('fs').readFileSync(0, 'utf8').split('\n');
const [n, target] = lines[0].split(' ').map(Number);
const numbers = lines[1].split(' ').map((text) => parseInt(text, 10));

/* a map from value to place */
const seen = new Map();
let found = false;
for (let i = 0; i < n && !found; i++) {
  const wanted = target - numbers[i];
  if (seen.has(wanted)) {
    console.log(`${seen.get(wanted) + 1} ${i + 1}`); // one based
    found = true;
  }
  seen.set(numbers[i], i);
}
if (!found) console.log("// none".length ? '-1' : "");

class Counter extends Map {
  add(key) { this.set(key, (this.get(key) ?? 0) + 1); return this; }
  static async of(items) { const made = new Counter(); for (const item of items) made.add(item); return made; }
}
const pattern = /[a-z]+\/\/\d*/g;
module.exports = { Counter, pattern };
