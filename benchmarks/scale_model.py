"""What a thousand to a hundred million attempts take, by a model of measured constants: the tables of docs/scale.md.

Every constant stands in ``CONSTANTS``, with what measured it and up to which size; what is reckoned beyond that size is
extrapolated. The model is linear: it says what things take as long as they do not break, and ``docs/scale.md`` says
where they do.

    python benchmarks/scale_model.py [--write]

``--write`` puts the tables into docs/scale.md.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "scale.md"
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
PER_CONTEST = 100_000
"""Attempts of one contest at most: larger ones are laid as several."""
JUDGES = 4


@dataclass(frozen=True)
class Constant:
    """A measured number.

    Attributes:
        value: the number.
        unit: its unit.
        what: what it is of.
        measured_by: what measured it.
        up_to: the largest size at which it was measured.
    """

    value: float
    unit: str
    what: str
    measured_by: str
    up_to: str


_WHOLE, _SMALL = "scale_constants.py", "a contest of 747 attempts"
CONSTANTS = {
    "read_ms": Constant(
        6.8,
        "ms of processor an attempt",
        "files to attempts, contexts, splits, requests; start-up included",
        _WHOLE,
        _SMALL,
    ),
    "call_direct_ms": Constant(
        0.7, "ms of processor a call", "rendering, asking, keeping an answer, direct", "judging.py", "5,000 calls"
    ),
    "call_litellm_ms": Constant(
        4.5, "ms of processor a call", "the same through litellm (4 to 5)", "judging.py", "5,000 calls"
    ),
    "report_ms": Constant(
        2.1,
        "ms of processor an attempt",
        "tables of how people get there, CodeBLEU the most of it",
        "dynamics_scale.py",
        "300,000 attempts (1.7 there, 2.1 at 100,000)",
    ),
    "report_besides_s": Constant(
        23.0, "s of processor a contest", "figures of judges, resamples, pages, the report", _WHOLE, _SMALL
    ),
    "memory_bytes": Constant(
        6400.0,
        "bytes an attempt",
        "largest memory of all processes of a report",
        "dynamics_scale.py",
        "300,000 attempts",
    ),
    "memory_besides_mb": Constant(
        430.0,
        "MB",
        "the same besides: libraries, and the processes that score",
        "dynamics_scale.py",
        "300,000 attempts",
    ),
    "answer_bytes": Constant(
        6240.0,
        "bytes an answer",
        "checkpoint, SQLite: request, call, judgment (PostgreSQL: 3,700)",
        _WHOLE,
        "8,000 answers, 1,200 characters of code and of context",
    ),
    "tables_bytes": Constant(
        5500.0, "bytes an attempt", "Parquet tables, and requests once more as JSONL", _WHOLE, _SMALL
    ),
    "report_bytes": Constant(21.5e6, "bytes a contest", "report, figures, 200 pages of trajectories", _WHOLE, _SMALL),
    "run_bytes": Constant(
        7.8e5, "bytes a run", "Dagster's records, the mean of read, four judges and report", _WHOLE, _SMALL
    ),
    "tokens_in": Constant(
        700.0, "tokens a call", "a short program with a short context", "assumed, as in resume.py", "-"
    ),
    "tokens_out": Constant(
        150.0, "tokens a call", "an answer without thinking", "assumed, as plan does where it knows nothing", "-"
    ),
}


def _value(name: str) -> float:
    return CONSTANTS[name].value


@dataclass(frozen=True)
class Scale:
    """What so many attempts take with ``JUDGES`` judges, contests of at most ``PER_CONTEST`` attempts.

    Attributes:
        attempts: how many in all.
    """

    attempts: int

    @property
    def contests(self) -> int:
        """Contests that they are laid as."""
        return -(-self.attempts // PER_CONTEST)

    @property
    def in_contest(self) -> int:
        """Attempts of one of them."""
        return min(self.attempts, PER_CONTEST)

    @property
    def answers(self) -> int:
        """Judgments, and calls where each is answered at the first try."""
        return JUDGES * self.attempts

    @property
    def runs(self) -> int:
        """Dagster runs: read, each judge, report, for each contest; the comparison once."""
        return self.contests * (2 + JUDGES) + 1

    @property
    def partitions(self) -> int:
        """Partitions of the judges' tables, which are the most."""
        return self.contests * JUDGES

    def cpu_hours(self, *parts: str) -> float:
        """Processor hours of parts whose constants are milliseconds an attempt, and seconds a contest besides."""
        each = sum(self.attempts * _value(f"{part}_ms") / 1000.0 for part in parts)
        besides = sum(self.contests * _value(name) for part in parts if (name := f"{part}_besides_s") in CONSTANTS)
        return (each + besides) / 3600.0

    def asking_hours(self, transport: str) -> float:
        """Processor hours of asking all judges."""
        return self.answers * _value(f"call_{transport}_ms") / 1000.0 / 3600.0

    def memory_gb(self) -> float:
        """Memory of the largest process and what is below it, for one contest."""
        return (_value("memory_besides_mb") * 1e6 + self.in_contest * _value("memory_bytes")) / 1e9

    def checkpoint_gb(self) -> float:
        """Bytes of the checkpoint."""
        return self.answers * _value("answer_bytes") / 1e9

    def tables_gb(self) -> float:
        """Bytes of Parquet."""
        return self.attempts * _value("tables_bytes") / 1e9

    def reports_gb(self) -> float:
        """Bytes of reports and pages."""
        return self.contests * _value("report_bytes") / 1e9

    def dagster_gb(self) -> float:
        """Bytes of Dagster's records."""
        return self.runs * _value("run_bytes") / 1e9

    def tokens_millions(self) -> tuple[float, float]:
        """Millions of tokens in and out."""
        return self.answers * _value("tokens_in") / 1e6, self.answers * _value("tokens_out") / 1e6

    def usd(self, usd_in: float, usd_out: float) -> float:
        """US dollars at prices for a million tokens in and out."""
        tokens_in, tokens_out = self.tokens_millions()
        return tokens_in * usd_in + tokens_out * usd_out

    def days_of_calls(self, calls_a_second: float) -> float:
        """Days for which providers are busy that answer so many calls a second together."""
        return self.answers / calls_a_second / 86_400.0


COLUMNS: Sequence[tuple[str, Callable[[Scale], str]]] = (
    ("attempts", lambda s: f"{s.attempts:,}"),
    ("contests", lambda s: f"{s.contests:,}"),
    ("read, h", lambda s: _short(s.cpu_hours("read"))),
    ("ask, direct, h", lambda s: _short(s.asking_hours("direct"))),
    ("ask, litellm, h", lambda s: _short(s.asking_hours("litellm"))),
    ("report, h", lambda s: _short(s.cpu_hours("report"))),
    ("memory of one contest, GB", lambda s: _short(s.memory_gb())),
    ("checkpoint, GB", lambda s: _short(s.checkpoint_gb())),
    ("tables, GB", lambda s: _short(s.tables_gb())),
    ("reports, GB", lambda s: _short(s.reports_gb())),
    ("Dagster's records, GB", lambda s: _short(s.dagster_gb())),
    ("runs", lambda s: f"{s.runs:,}"),
    ("judged partitions", lambda s: f"{s.partitions:,}"),
)
MONEY: Sequence[tuple[str, Callable[[Scale], str]]] = (
    ("attempts", lambda s: f"{s.attempts:,}"),
    ("calls", lambda s: f"{s.answers:,}"),
    ("tokens in, millions", lambda s: _short(s.tokens_millions()[0])),
    ("tokens out, millions", lambda s: _short(s.tokens_millions()[1])),
    ("USD at 0.25 in, 2 out", lambda s: _short(s.usd(0.25, 2.0))),
    ("USD at 1.75 in, 14 out", lambda s: _short(s.usd(1.75, 14.0))),
    ("days at 10 calls/s", lambda s: _short(s.days_of_calls(10.0))),
    ("days at 1,000 calls/s", lambda s: _short(s.days_of_calls(1000.0))),
)


def tables() -> dict[str, str]:
    """The tables in Markdown, by the name of the place where they stand in the document."""
    constants = [[c.what, f"{c.value:g}", c.unit, c.measured_by, c.up_to] for c in CONSTANTS.values()]
    return {
        "constants": _markdown(["what", "value", "unit", "measured by", "up to"], constants),
        "sizes": _markdown([name for name, _ in COLUMNS], [[of(Scale(n)) for _, of in COLUMNS] for n in SIZES]),
        "money": _markdown([name for name, _ in MONEY], [[of(Scale(n)) for _, of in MONEY] for n in SIZES]),
    }


def written(document: str) -> str:
    """The document with the tables of today in their places."""
    for name, table in tables().items():
        begin, end = f"<!-- scale_model.py: {name} -->", "<!-- end -->"
        place = re.compile(f"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)
        document, n = place.subn(lambda found, table=table: f"{found[1]}\n{table}\n\n{found[2]}", document)
        if n != 1:
            raise SystemExit(f"{DOCUMENT.name} has {n} places for {name}; it needs one: {begin} ... {end}")
    return document


def main() -> int:
    """Print the tables, or write them; 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    if parser.parse_args().write:
        DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print("\n\n".join(tables().values()))
    return 0


def _short(value: float) -> str:
    """Two significant digits, in figures that a person reads."""
    if value >= 100:
        digits = len(str(int(value))) - 2
        return f"{round(value, -digits):,.0f}"
    return f"{value:.2g}" if value >= 0.001 else "< 0.001"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
