"""What ``judge-pipeline compare`` says: as tables for people, and as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from judge_pipeline.cli.evaluation_json import estimate_of, plain_number
from judge_pipeline.cli.evaluation_sections import printable
from judge_pipeline.report.asked_with import asked_with_words
from judge_pipeline.tables.metric_words import METRICS, agreement_label, metric_label

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from judge_pipeline.cli.compared_run import GivenRun
    from judge_pipeline.cocreation.run_comparison import RunComparison

_SPENDING = {"mean_cost_usd": "Cost of an answer, US dollars", "mean_latency_ms": "Time of an answer, ms"}
_FLIPS_SHOWN = 20
_MARKS = {"drop": "worse", "gain": "better", "not told": "", "undefined": "undefined", None: ""}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Gate:
    """What a comparison means for CI.

    Attributes:
        metrics: the figures in which a drop counts.
        margin: a drop counts where it is larger than this.
        drops: rows of RUN_DIFFERENCES that dropped.
        undefined: rows of RUN_DIFFERENCES in which a drop could not be seen.
        absent: (old judge, new judge, metric) of figures that a run holds no column for.
        missing: judges of the old run that the new one has not.
    """

    metrics: tuple[str, ...]
    margin: float
    drops: Sequence[Row]
    undefined: Sequence[Row]
    absent: Sequence[tuple[str, str, str]]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, found: RunComparison, metrics: Sequence[str], margin: float, *, with_missing: bool) -> Gate:
        """The gate of a comparison; ``with_missing``: judges that the new run has not count as not told."""
        rows = found.differences
        pairs = rows[["old_judge", "new_judge"]].drop_duplicates().to_numpy().tolist()
        there = set(zip(rows["old_judge"], rows["new_judge"], rows["metric"], strict=True))
        return cls(
            metrics=tuple(dict.fromkeys(metrics)),
            margin=margin,
            drops=found.drops(metrics, margin).to_dict("records"),
            undefined=found.undecided(metrics).to_dict("records"),
            absent=[(old, new, name) for old, new in pairs for name in metrics if (old, new, name) not in there],
            missing=found.only_old if with_missing else (),
        )

    @property
    def dropped(self) -> bool:
        """Whether any figure that counts dropped."""
        return bool(self.drops)

    @property
    def not_told(self) -> bool:
        """Whether any figure that counts could not be compared."""
        return bool(self.undefined or self.absent or self.missing)

    def sentences(self) -> list[str]:
        """What it means, in words."""
        said = [f"Dropped: {_pair(row)}: {_label(row['metric'])}" for row in self.drops]
        said += [f"Not compared: {_pair(row)}: {_label(row['metric'])}: {_why(row)}" for row in self.undefined]
        said += [
            f"Not compared: {_names(old, new)}: {_label(metric)}: a run does not hold it"
            for old, new, metric in self.absent
        ]
        said += [f"Not compared: {judge} is in OLD and not in NEW" for judge in self.missing]
        return said

    def to_json(self) -> dict[str, Any]:
        """The gate as plain JSON values."""
        return {
            "metrics": list(self.metrics),
            "margin": self.margin,
            "drops": [_place(row) for row in self.drops],
            "undefined": [{**_place(row), "reason": _why(row)} for row in self.undefined]
            + [
                {"old": old, "new": new, "metric": metric, "reason": "a run does not hold it"}
                for old, new, metric in self.absent
            ],
            "missing_judges": list(self.missing),
        }


def comparison_json(
    found: RunComparison, sides: Sequence[GivenRun], gate: Gate, *, seed: int, resamples: int
) -> dict[str, Any]:
    """The comparison as one object of plain values."""
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for row in found.differences.to_dict("records"):
        _of(pairs, row)["figures"][row["metric"]] = _figure_json(row)
    for row in found.agreement.to_dict("records"):
        _of(pairs, row)["agreement"][row["statistic"]] = estimate_of(row)
    for row in found.flips.to_dict("records"):
        flip = {name: value for name, value in row.items() if name not in ("old_judge", "new_judge")}
        y = plain_number(row["y"])
        _of(pairs, row)["flips"].append({**flip, "y": None if y is None else int(y)})
    for row in found.counts.to_dict("records"):
        of = _of(pairs, row)
        of["attempts"][row["split"]] = {name: int(row[name]) for name in row if name.startswith("n_")}
        of["thresholds"] = {side: plain_number(row[f"{side}_threshold"]) for side in ("old", "new")}
    return {
        "provenance": {
            "version": version("judge-pipeline"),
            "seed": seed,
            "resamples": resamples,
            "inputs": {name: side.to_json() for name, side in zip(("old", "new"), sides, strict=True)},
        },
        "pairs": list(pairs.values()),
        "only_in_old": list(found.only_old),
        "only_in_new": list(found.only_new),
        "n_labels_filled": found.n_labels_filled,
        "gate": gate.to_json(),
    }


def print_comparison(found: RunComparison, sides: Sequence[GivenRun], gate: Gate, *, seed: int, resamples: int) -> None:
    """Print each pair's figures, the agreement of its decisions, its flips; then what could not be compared."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    console.print(f"OLD {printable(sides[0].source)}  sha256 {sides[0].sha256[:16]}")
    console.print(f"NEW {printable(sides[1].source)}  sha256 {sides[1].sha256[:16]}\n")
    notes: dict[str, int] = {}
    for names, rows in found.differences.groupby(["old_judge", "new_judge"], sort=False):
        mine = {name: _of_pair(table, names) for name, table in vars(found).items() if name in _TABLES}
        counts = {row["split"]: row for row in mine["counts"]}
        console.print(_figures_table(names, rows.to_dict("records"), notes))
        for line in version_lines(*(side.judges.get(str(judge)) for side, judge in zip(sides, names, strict=True))):
            console.print(printable(line))
        console.print(_counts_line(counts))
        _print_agreement(console, mine["agreement"], mine["flips"], counts["test"])
    for side, judges in (("OLD", found.only_old), ("NEW", found.only_new)):
        if judges:
            console.print(f"Only in {side}, compared with nothing: {printable(', '.join(judges))}")
    if found.n_labels_filled:
        console.print(f"{found.n_labels_filled} attempts have a label in one run only, which counts for both.")
    console.print(
        f"Worse, better: the 95% interval of new less old leaves out 0. p is corrected (Holm) over a judge's ten "
        f"tested figures. Cluster bootstrap, {resamples} resamples, seed {seed}."
    )
    for text, number in notes.items():
        console.print(f"{number:>2} {printable(text)}")
    console.print()
    for sentence in gate.sentences() or ["No figure that counts dropped."]:
        console.print(printable(sentence))


_TABLES = ("agreement", "flips", "counts")


def version_lines(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> list[str]:
    """What differs between two versions of a judge, a line for each of model, prompt and parameters; what both had not
    stored, or share, has none."""
    old, new = old or {}, new or {}
    lines = []
    for name, what in (("model", "Model"), ("prompt_sha256", "Prompt (sha256)"), ("asked_with", "Asked with")):
        before, after = old.get(name), new.get(name)
        if before != after:
            lines.append(f"{what}: {_version_part(name, before)} -> {_version_part(name, after)}")
    return lines


def _version_part(name: str, value: str | None) -> str:
    if value is None:
        return "not known"
    if name == "asked_with":
        return asked_with_words(value)
    return value[:12] if name == "prompt_sha256" else value


def _figures_table(names: Any, rows: Sequence[Row], notes: dict[str, int]) -> Table:
    from rich.table import Table

    title = printable(_names(*names))
    table = Table(title=title, box=None, padding=(0, 1, 0, 0), title_justify="left", title_style="bold")
    table.add_column("", overflow="fold", min_width=20)
    for heading in ("old", "new", "change", "95% interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows:
        digits = 0 if row["metric"] == "log_loss_n_clipped" else 4
        reasons = [] if row["reason"] is None else str(row["reason"]).split("; ")
        marks = [_MARKS[row["change"]], *(str(notes.setdefault(text, len(notes) + 1)) for text in reasons)]
        low, high = plain_number(row["ci95_low"]), plain_number(row["ci95_high"])
        table.add_row(
            _label(row["metric"]),
            _number(row["old"], digits),
            _number(row["new"], digits),
            _number(row["value"], digits, sign="+"),
            "" if low is None or high is None else f"{low:.4f} to {high:.4f}",
            _p(row["p_holm"]),
            " ".join(mark for mark in marks if mark),
        )
    return table


def _counts_line(counts: Mapping[str, Row]) -> str:
    test = counts["test"]
    return (
        f"{test['n_both']} attempts of test answered by both ({test['n_labelled']} with a label); only by OLD "
        f"{test['n_only_old']}, only by NEW {test['n_only_new']}, by neither {test['n_neither']}. "
        f"t* from val: {_number(test['old_threshold'], 2)} and {_number(test['new_threshold'], 2)}."
    )


def _print_agreement(console: Console, agreement: Sequence[Row], flips: Sequence[Row], test: Row) -> None:
    for row in agreement:
        estimate = estimate_of(row)
        interval = "" if estimate["ci95"] is None else f" ({estimate['ci95'][0]:.4f} to {estimate['ci95'][1]:.4f})"
        value = f"undefined: {estimate['reason']}" if estimate["value"] is None else f"{estimate['value']:.4f}"
        console.print(f"{_AGREEMENT.get(row['statistic'], agreement_label(row['statistic']))}: {value}{interval}")
    kinds = {kind: [row for row in flips if row["flip"] == kind] for kind in ("broken", "mended", "unlabelled")}
    console.print(
        f"Decisions that flipped: {len(flips)} of {test['n_both']}: {len(kinds['broken'])} right before and wrong now, "
        f"{len(kinds['mended'])} wrong before and right now, {len(kinds['unlabelled'])} without label."
    )
    for kind, rows in kinds.items():
        if rows:
            more = f" and {len(rows) - _FLIPS_SHOWN} more (--json has all)" if len(rows) > _FLIPS_SHOWN else ""
            shown = ", ".join(str(row["attempt_id"]) for row in rows[:_FLIPS_SHOWN])
            console.print(f"  {kind}: {printable(shown)}{more}")
    console.print()


_AGREEMENT = {
    "cohen": "Agreement of old and new decisions, Cohen's κ",
    "raw_agreement": "Same decision",
    "bias_index": "Share accepted, old less new",
}


def _of_pair(table: Any, names: Any) -> list[dict[str, Any]]:
    mine = (table["old_judge"] == names[0]) & (table["new_judge"] == names[1])
    return list(table[mine].to_dict("records"))


def _of(pairs: dict[tuple[str, str], dict[str, Any]], row: Row) -> dict[str, Any]:
    old, new = str(row["old_judge"]), str(row["new_judge"])
    empty = {"old": old, "new": new, "thresholds": {}, "attempts": {}, "figures": {}, "agreement": {}, "flips": []}
    return pairs.setdefault((old, new), empty)


def _figure_json(row: Row) -> dict[str, Any]:
    sides = {}
    for side in ("old", "new"):
        value, low, high = (plain_number(row[name]) for name in (side, f"{side}_ci95_low", f"{side}_ci95_high"))
        sides[side] = {"value": value, "ci95": None if low is None else [low, high]}
    return {
        **sides,
        "difference": estimate_of(row),
        "p_value": plain_number(row["p_value"]),
        "p_holm": plain_number(row["p_holm"]),
        "n_trajectories": int(row["n_trajectories"]),
        "split": row["split"],
        "better": row["better"],
        "change": row["change"],
    }


def _place(row: Row) -> dict[str, Any]:
    return {"old": row["old_judge"], "new": row["new_judge"], "metric": row["metric"]}


def _why(row: Row) -> str:
    return str(row["reason"] or "it has no interval")


def _pair(row: Row) -> str:
    return _names(str(row["old_judge"]), str(row["new_judge"]))


def _names(old: str, new: str) -> str:
    return old if old == new else f"{old} -> {new}"


def _label(metric: str) -> str:
    return metric_label(metric) if metric in METRICS else _SPENDING.get(metric, metric)


def _number(value: Any, digits: int, sign: str = "") -> str:
    number = plain_number(value)
    return "none" if number is None else f"{number:{sign}.{digits}f}"


def _p(value: Any) -> str:
    number = plain_number(value)
    return "" if number is None else "<0.001" if number < 0.001 else f"{number:.3f}"
