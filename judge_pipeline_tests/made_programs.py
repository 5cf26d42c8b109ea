"""Made-up contest programs and their revisions, the same each time: no one's work."""

from __future__ import annotations

import random
import re

LANGUAGES = ("Python 3 (CPython 3.12)", "C++17 (GCC 13.2)", "Java 21", "C (GCC 13.2)")

_FRAMES = {
    "Python 3 (CPython 3.12)": ("import sys\n\n\ndef solve(values):\n", "    return total\n\n\n{call}\n"),
    "C++17 (GCC 13.2)": (
        "#include <bits/stdc++.h>\nusing namespace std;\n\nlong long solve(vector<long long> values) {{\n",
        "    return total;\n}}\n\nint main() {{\n{call}\n}}\n",
    ),
    "Java 21": (
        "import java.util.*;\n\npublic class Main {{\n    static long solve(long[] values) {{\n",
        "        return total;\n    }}\n\n    public static void main(String[] args) {{\n{call}\n    }}\n}}\n",
    ),
    "C (GCC 13.2)": (
        "#include <stdio.h>\n\nlong long solve(long long *values, int n) {{\n",
        "    return total;\n}}\n\nint main(void) {{\n{call}\n}}\n",
    ),
}
_CALLS = {
    "Python 3 (CPython 3.12)": "print(solve(list(map(int, sys.stdin.read().split()))))",
    "C++17 (GCC 13.2)": "    long long n;\n    vector<long long> v;\n    while (cin >> n) v.push_back(n);\n"
    "    cout << solve(v) << endl;",
    "Java 21": "        Scanner in = new Scanner(System.in);\n        long[] v = new long[in.nextInt()];\n"
    "        for (int i = 0; i < v.length; i++) v[i] = in.nextLong();\n        System.out.println(solve(v));",
    "C (GCC 13.2)": '    long long v[1000];\n    int n = 0;\n    while (scanf("%lld", &v[n]) == 1) n++;\n'
    '    printf("%lld\\n", solve(v, n));\n    return 0;',
}
_PYTHON_STEPS = (
    "    for item in values:\n        if item % {a} == {b}:\n            total += item * {c}\n",
    "    for i in range(len(values) - 1):\n        total = max(total, values[i] + values[i + 1] - {a})\n",
    "    while total > {a}:\n        total -= {b} + 1\n",
    "    table = {{}}\n    for item in values:\n        table[item % {a}] = table.get(item % {a}, 0) + {b}\n"
    "    total += sum(table.values())\n",
    "    total += sorted(values)[{b} % max(1, len(values))] if values else {c}\n",
)
_BRACED_STEPS = (
    "    for (int i = 0; i < {n}; i++) {{\n        if (values[i] % {a} == {b}) total += values[i] * {c};\n    }}\n",
    "    for (int i = 0; i + 1 < {n}; i++) {{\n        long long s = values[i] + values[i + 1] - {a};\n"
    "        if (s > total) total = s;\n    }}\n",
    "    while (total > {a}) total -= {b} + 1;\n",
    "    if ({n} > {b}) {{\n        total += values[{b}] * {c};\n    }} else {{\n        total -= {a};\n    }}\n",
)
_LENGTH = {"C++17 (GCC 13.2)": "(int) values.size()", "Java 21": "values.length", "C (GCC 13.2)": "n"}
_NUMBER = re.compile(r"\b\d{1,3}\b")


def made_program(rng: random.Random, language: str, n_steps: int) -> str:
    """A program of ``n_steps`` loops and conditions."""
    head, tail = _FRAMES[language]
    start = {"Python 3 (CPython 3.12)": "    total = {b}\n"}.get(language, "    long long total = {b};\n")
    if language == "Java 21":
        start = "    long total = {b};\n"
    body = _filled(rng, language, start) + "".join(_step(rng, language) for _ in range(n_steps))
    if language == "Java 21":
        body = body.replace("long long", "long")
    if language.startswith("Python"):
        return head + body + tail.format(call=_CALLS[language])
    return head.format() + body + tail.format(call=_CALLS[language])


def revised(rng: random.Random, source: str, language: str) -> str:
    """The program after a revision: a constant changed, a step added, a line gone, or written anew."""
    kind = rng.choices(("constant", "step", "line", "anew", "same"), (5, 3, 2, 2, 1))[0]
    if kind == "constant":
        places = list(_NUMBER.finditer(source))
        if not places:
            return made_program(rng, language, 2)
        place = rng.choice(places)
        return source[: place.start()] + str(rng.randint(0, 99)) + source[place.end() :]
    lines = source.splitlines(keepends=True)
    if kind == "step":
        at = next(i for i, line in enumerate(lines) if line.strip().startswith("return total"))
        return "".join([*lines[:at], _step(rng, language), *lines[at:]])
    if kind == "line":
        at = rng.randrange(len(lines))
        return "".join(line for i, line in enumerate(lines) if i != at or line.strip().startswith("return total"))
    return made_program(rng, language, rng.randint(1, 6)) if kind == "anew" else source


def _step(rng: random.Random, language: str) -> str:
    return _filled(rng, language, rng.choice(_PYTHON_STEPS if language.startswith("Python") else _BRACED_STEPS))


def _filled(rng: random.Random, language: str, text: str) -> str:
    a, b, c = rng.randint(2, 97), rng.randint(0, 9), rng.randint(1, 9)
    filled = text.format(a=a, b=b, c=c, n=_LENGTH.get(language, ""))
    return filled.replace("long long", "long") if language == "Java 21" else filled
