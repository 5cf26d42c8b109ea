"""The start page: every contest and preference set with its reports, and the judges over all contests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import count, metrics_by_judge, number, read_estimate, text
from judge_pipeline.figures.leaderboard import accuracy_cost_figure
from judge_pipeline.report.asked_with import asked_with_words
from judge_pipeline.report.cautions import Statement
from judge_pipeline.report.page import render
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline.tables.metric_words import METRICS

TEMPLATE = "start.html.j2"

COUNTS = {"participants": "Participants", "problems": "Problems", "attempts": "Attempts"}
"""Counts of a contest that the page shows: name in ``contest_overview`` -> heading."""

ACCURACY = ("roc_auc", "mcc_test", "brier")
MONEY_AND_TIME = {
    "cost_per_1000_usd": ("US$ for 1,000 attempts", 2),
    "latency_median_ms": ("Latency, ms, median", 0),
    "latency_p95_ms": ("Latency, ms, 95th percentile", 0),
}
VERSION_METRICS = ("roc_auc", "brier", "mcc_test")


@dataclass(frozen=True, slots=True)
class ContestLine:
    """A contest on the start page.

    Attributes:
        contest: its slug.
        title: its name for people.
        link: its report, relative to the page; None where there is none yet.
        counts: of ``COUNTS``, those that are known.
        n_judges: judges that are configured for it; None where it was never run.
        n_verified: those of them whose tables are verified.
    """

    contest: str
    title: str
    link: str | None
    counts: Mapping[str, int] = field(default_factory=dict)
    n_judges: int | None = None
    n_verified: int | None = None


@dataclass(frozen=True, slots=True)
class PreferenceSetLine:
    """A preference set on the start page.

    Attributes:
        name: its slug.
        title: its name for people.
        chosen_by: who or what chose, by its preference.yaml; None where that cannot be read.
        preference_link: its preference report, relative to the page; None where there is none yet.
        criteria_link: its criteria report.
        n_pairs: pairs that were read; None where it never was.
    """

    name: str
    title: str
    chosen_by: str | None
    preference_link: str | None = None
    criteria_link: str | None = None
    n_pairs: int | None = None


def start_page_html(
    contests: Sequence[ContestLine],
    sets: Sequence[PreferenceSetLine],
    leaderboard: pd.DataFrame,
    versions: pd.DataFrame,
    code_version: str,
) -> str:
    """The page: works offline, prints; the same arguments give the same bytes.

    Args:
        contests: every contest that is known.
        sets: every preference set that is known.
        leaderboard: table LEADERBOARD.
        versions: table JUDGE_VERSIONS.
        code_version: of the code that made the page.
    """
    figure = accuracy_cost_figure(leaderboard.assign(judge=leaderboard["judge"].map(labels(leaderboard))))
    context: dict[str, Any] = {
        "provenance": {"code_version": code_version},
        "found": leaderboard_findings(leaderboard),
        "figures": {figure.name: figure},
        "n_contests": len(contests),
        "n_sets": len(sets),
    }
    views = [contests_view(contests), sets_view(sets), leaderboard_view(leaderboard), versions_view(versions)]
    return render(TEMPLATE, [figure], context, views)


def contests_view(contests: Sequence[ContestLine]) -> View:
    """Each contest with its counts and the way to its report."""
    headings = [Heading("Contest"), *(Heading(words, numeric=True) for words in COUNTS.values())]
    headings += [Heading("Judges verified", numeric=True), Heading("Report")]
    nothing = "No contest is known yet: judge-pipeline run CONTEST_DIR reads, judges and reports one."
    view = View("contests", "Contests", headings, empty=nothing)
    for line in contests:
        counts = [_count(line.counts.get(name)) for name in COUNTS]
        verified = "–" if line.n_judges is None else f"{line.n_verified:,} of {line.n_judges:,}"
        way = Cell("report", link=line.link) if line.link else Cell("not made yet", undefined=True)
        name = Cell(line.title, below=() if line.title == line.contest else (line.contest,), link=line.link)
        view.rows.append([name, *counts, Cell(verified, numeric=True, undefined=line.n_judges is None), way])
    return view


def sets_view(sets: Sequence[PreferenceSetLine]) -> View:
    """Each preference set with who chose in it and the ways to its reports."""
    headings = [
        Heading("Preference set"), Heading("Who or what chose", "As its preference.yaml says"),
        Heading("Pairs", numeric=True), Heading("How judges choose"), Heading("Criterion by criterion"),
    ]  # fmt: skip
    nothing = "No preference set is known yet: judge-pipeline preference SET_DIR reads, judges and reports one."
    view = View("sets", "Preference sets", headings, empty=nothing)
    for line in sets:
        way = line.preference_link or line.criteria_link
        name = Cell(line.title, below=() if line.title == line.name else (line.name,), link=way)
        chosen_by = Cell(line.chosen_by or "not known", undefined=line.chosen_by is None)
        links = (line.preference_link, line.criteria_link)
        ways = [Cell("report", link=link) if link else Cell("not made yet", undefined=True) for link in links]
        view.rows.append([name, chosen_by, _count(line.n_pairs), *ways])
    return view


def leaderboard_view(table: pd.DataFrame) -> View:
    """Judges over all contests, those that the data do not tell apart under the same ranks."""
    headings = [
        Heading("Judge", "Below: its model"),
        Heading("Ranks left open", "By ROC-AUC, Holm-corrected differences", numeric=True),
        *(Heading(f"{METRICS[name].label}\u00a0{METRICS[name].arrow}", numeric=True) for name in ACCURACY),
        *(Heading(words, numeric=True) for words, _ in MONEY_AND_TIME.values()), Heading("Contests", numeric=True),
    ]  # fmt: skip
    view = View("leaderboard", "Judges over all contests: value, 95% interval, n", headings,
                empty="No judge has a figure in any contest yet.")  # fmt: skip
    estimates = metrics_by_judge(table)
    first = table.drop_duplicates("judge").set_index("judge")
    by_rank = table[table["metric"] == "roc_auc"].set_index("judge")
    for judge in in_order(table):
        found, row = estimates[judge], first.loc[judge]
        cells = [view.estimate(found.get(name)) for name in ACCURACY]
        cells += [view.estimate(found.get(name), digits) for name, (_, digits) in MONEY_AND_TIME.items()]
        ranks = Cell(
            _ranks(by_rank.loc[judge]), numeric=True, undefined=number(by_rank.loc[judge, "rank_from"]) is None
        )
        tags = tuple((text(row["kind"]) or "").split("; ")) if text(row["kind"]) else ()
        contests = Cell(f"{count(row['n_contests']):,}", numeric=True)
        model = text(row["model"])
        view.rows.append([Cell(judge, below=(model,) if model else (), tags=tags), ranks, *cells, contests])
    view.remarks.append(
        "A judge's ranks are those that the data leave open: 1 + the judges shown to rank attempts better than it, "
        "down to all judges less those shown to rank worse. Judges whose ranks overlap are not told apart, and stand "
        "in alphabetical order. Figures are over the test attempts of all contests together, t* chosen on all their "
        "val attempts; judges of other contests or scopes are compared on the attempts that both answered."
    )
    return view


def versions_view(table: pd.DataFrame) -> View:
    """Versions of judges beside each other on the same contest."""
    headings = [
        Heading("Judge"), Heading("Contest"),
        Heading("Version", "Model; below: sha256 of the prompt template, what the model was asked with"),
        Heading("Figures rest on it"), Heading("Answered", numeric=True),
        *(Heading(f"{METRICS[name].label}\u00a0{METRICS[name].arrow}", numeric=True) for name in VERSION_METRICS),
    ]  # fmt: skip
    view = View("versions", "Judges by contest, prompt, model and parameters", headings, foldable=True,
                empty="No judge has answered yet.", table="judge_versions")  # fmt: skip
    keys = ["judge", "contest", "prompt_sha256", "model", "asked_with"]
    rows = table.sort_values([*keys[:2], "is_current"], ascending=[True, True, False], kind="stable")
    for key, group in rows.groupby(keys, sort=False, dropna=False):
        judge, contest, prompt, model, asked = (text(part) for part in key)
        figures = {row["metric"]: read_estimate(row) for row in group.to_dict("records")}
        one = group.iloc[0]
        answered = f"{count(one['n_answered']):,} of {count(one['n_attempts']):,}"
        view.rows.append(
            [
                Cell(judge or ""), Cell(contest or ""), _version(prompt, model, asked),
                Cell("yes" if one["is_current"] else "no: an earlier version"), Cell(answered, numeric=True),
                *(view.estimate(figures.get(name)) for name in VERSION_METRICS),
            ]
        )  # fmt: skip
    return view


def _version(prompt: str | None, model: str | None, asked: str | None) -> Cell:
    below = (f"prompt {prompt[:12]}" if prompt else "", asked_with_words(asked))
    return Cell(model or "–", below=tuple(filter(None, below)))


def leaderboard_findings(table: pd.DataFrame) -> list[Statement]:
    """What the leaderboard shows, in words; nothing of an order that the data leave open."""
    ranked = table[(table["metric"] == "roc_auc") & table["rank_from"].notna()]
    k = len(ranked)
    if k < 2:
        return []
    told = ranked[(ranked["rank_from"] > 1) | (ranked["rank_to"] < k)]
    if not len(told):
        return [
            Statement(
                "No judge is told from another",
                f"By ROC-AUC, corrected for all pairs (Holm), the data tell none of {k} judges from another: each may "
                f"be anywhere from rank 1 to {k}.",
                "leaderboard",
            )
        ]
    open_first = sorted(ranked[ranked["rank_from"] == 1]["judge"])
    last = sorted(told[told["rank_from"] > 1]["judge"])
    first = (
        f"{open_first[0]} is shown to rank better than some others, and none to rank better than it"
        if len(open_first) == 1
        else f"{len(open_first)} of {k} judges may be the best: {', '.join(open_first)}"
    )
    return [
        Statement(
            "Some judges are told apart",
            f"By ROC-AUC, corrected for all pairs (Holm): {first}. Shown to rank worse than at least one other: "
            f"{', '.join(last)}. Everything else is open.",
            "leaderboard",
        )
    ]


def in_order(table: pd.DataFrame) -> list[str]:
    """Judges by the ranks left open, those with the same ones by name; without ranks last."""
    rows = table[table["metric"] == "roc_auc"].set_index("judge")

    def key(judge: str) -> tuple[float, float, str]:
        best, worst = (number(rows.loc[judge, name]) for name in ("rank_from", "rank_to"))
        return (float("inf") if best is None else best, float("inf") if worst is None else worst, judge)

    return sorted((str(judge) for judge in rows.index), key=key)


def _ranks(row: Any) -> str:
    best, worst = number(row["rank_from"]), number(row["rank_to"])
    if best is None or worst is None:
        return "undefined"
    return f"{best:.0f}" if best == worst else f"{best:.0f} to {worst:.0f}"


def _count(value: int | None) -> Cell:
    return Cell("–", numeric=True, undefined=True) if value is None else Cell(f"{value:,}", numeric=True)


def labels(table: pd.DataFrame) -> dict[str, str]:
    """Judge -> its name with what must stand beside it and it does not say itself."""
    found = {}
    for row in table.to_dict("records"):
        said = [tag for tag in (text(row["kind"]) or "").split("; ") if tag and tag not in row["judge"]]
        found[row["judge"]] = f"{row['judge']} ({', '.join(said)})" if said else row["judge"]
    return found


def leaderboard_json(table: pd.DataFrame) -> dict[str, Any]:
    """The leaderboard as plain JSON values: judge -> figure -> estimate, with the ranks that are left open."""
    found: dict[str, Any] = {}
    for row in table.to_dict("records"):
        estimate: Estimate = read_estimate(row)
        judge = found.setdefault(
            row["judge"], {"kind": text(row["kind"]), "model": text(row["model"]), "contests": text(row["contests"])}
        )
        ranks = [number(row[name]) for name in ("rank_from", "rank_to")]
        judge[row["metric"]] = estimate.to_json() | (
            {"ranks": [int(rank) for rank in ranks if rank is not None]} if None not in ranks else {}
        )
    return found


def rank_words(table: pd.DataFrame, judge: str) -> str:
    """The ranks by ROC-AUC that are left open for a judge."""
    row = table[(table["judge"] == judge) & (table["metric"] == "roc_auc")].iloc[0]
    return _ranks(row)
