"""What a contest's data hold, in counts: Table I of paper 1, and what that table leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.tables import CONTEST_OVERVIEW, SPLITS

Line = tuple[str, str, Estimate, str]
"""Statistic, label, the count, and what its ``n`` counts."""

_KIND_LABELS = {
    "secret": "Keys and passwords",
    "email": "E-mail addresses",
    "phone": "Telephone numbers",
    "name": "Names",
    "participant": "Participant ids",
}

_VERDICT_WORD_LABELS = {
    "prompt_text": "Words for verdicts in participants' prompts (Q_u)",
    "source_comment": "Words for verdicts in comments of programs",
}


def contest_overview(
    attempts: pd.DataFrame,
    prompt_logs: pd.DataFrame,
    trajectories: pd.DataFrame,
    splits: pd.DataFrame,
    quarantine: pd.DataFrame,
    redactions: pd.DataFrame | None = None,
    verdict_words: pd.DataFrame | None = None,
    n_withdrawn: int = 0,
) -> pd.DataFrame:
    """The contest's counts: the rows of Table I in its order, then what was undecided, incomplete or set aside.

    A count's ``n`` is how many rows it was counted over, and ``counted_over`` says of what (attempts, messages, ...).
    Accepted and non-accepted attempts are counted over those with a label, the rest being ``n_left_out``. Averages are
    over trajectories, and undefined where there are none.

    Args:
        attempts: table ATTEMPTS.
        prompt_logs: table PROMPT_LOGS.
        trajectories: table TRAJECTORIES.
        splits: table SPLIT_ASSIGNMENTS.
        quarantine: table INGEST_QUARANTINE.
        redactions: table REDACTION_COUNTS; without it no line says what was replaced.
        verdict_words: table VERDICT_WORD_COUNTS; without it no line says how many there are.
        n_withdrawn: participants who withdrew and are in none of the tables.

    Returns:
        Table CONTEST_OVERVIEW; one further row ``language:NAME`` for each language, most used first.
    """
    lines = [
        *_attempt_lines(attempts, trajectories, prompt_logs),
        *_split_lines(splits),
        *_turn_lines(trajectories),
        *_incomplete_lines(attempts, quarantine, prompt_logs),
        *_privacy_lines(redactions, n_withdrawn),
        *_verdict_word_lines(verdict_words),
        *_language_lines(attempts),
    ]
    return CONTEST_OVERVIEW.conform(
        [
            {"statistic": statistic, "label": label, "counted_over": unit, **estimate.to_row()}
            for statistic, label, estimate, unit in lines
        ]
    )


def _attempt_lines(attempts: pd.DataFrame, trajectories: pd.DataFrame, prompt_logs: pd.DataFrame) -> Iterator[Line]:
    n = len(attempts)
    undecided = int(attempts["y"].isna().sum())
    yield "participants", "Participants", _count(attempts["participant"].nunique(), n), "attempts"
    yield "problems", "Problems", _count(attempts["problem_id"].nunique(), n), "attempts"
    yield "trajectories", "Participant-problem trajectories (u, p)", _count(len(trajectories), n), "attempts"
    yield "attempts", "Submission attempts (rows)", _count(n, n), "attempts"
    yield "prompt_logs", "Prompt logs", _count(prompt_logs["path"].nunique(), len(prompt_logs)), "messages"
    prompts = int((prompt_logs["role"] == "user").sum())
    yield "prompts", "Prompts in them", _count(prompts, len(prompt_logs)), "messages"
    for value, name, label in ((1, "accepted", "Accepted attempts"), (0, "non_accepted", "Non-accepted attempts")):
        labelled = int((attempts["y"] == value).sum())
        yield name, label, Estimate(float(labelled), n - undecided, undecided), "attempts with a label"


def _split_lines(splits: pd.DataFrame) -> Iterator[Line]:
    counts = Counter(splits["split"])
    for split in SPLITS:
        yield (
            f"trajectories_{split}",
            f"{split.capitalize()} trajectories",
            _count(counts[split], len(splits)),
            "trajectories",
        )


def _turn_lines(trajectories: pd.DataFrame) -> Iterator[Line]:
    turns = trajectories["n_turns"].astype("float64")
    for name, label, value in (
        ("mean_turns", "Average attempts per trajectory", turns.mean()),
        ("median_turns", "Median attempts per trajectory", turns.median()),
        ("max_turns", "Maximum attempts in a trajectory", turns.max()),
    ):
        defined = Estimate(float(value), len(turns)) if len(turns) else Estimate.undefined("no trajectories")
        yield name, label, defined, "trajectories"
    solved = int(trajectories["solved"].astype("boolean").fillna(False).sum())
    yield "solved", "Solved trajectories", _count(solved, len(trajectories)), "trajectories"


def _incomplete_lines(attempts: pd.DataFrame, quarantine: pd.DataFrame, prompt_logs: pd.DataFrame) -> Iterator[Line]:
    n = len(attempts)
    pending = int((attempts["verdict"] == "PENDING").sum())
    unknown = int((attempts["verdict"] == "UNKNOWN").sum())
    yield "undecided", "Attempts without a label", _count(int(attempts["y"].isna().sum()), n), "attempts"
    yield "pending", "Attempts still being judged", _count(pending, n), "attempts"
    yield "unknown_verdict", "Attempts whose verdict was not understood", _count(unknown, n), "attempts"
    without_source = int(attempts["source_code"].isna().sum())
    yield "without_source", "Attempts without source code (not judged)", _count(without_source, n), "attempts"
    people = set(attempts["participant"])
    silent = len(people - set(prompt_logs["participant"]))
    yield "participants_without_log", "Participants without any prompt log", _count(silent, len(people)), "participants"
    extra = len(set(prompt_logs["participant"]) - people)
    yield (
        "log_only_participants",
        "Participants with prompt logs but no attempts",
        _count(extra, len(people) + extra),
        "participants",
    )
    for kind, label in (("submissions", "Submission artifacts set aside"), ("prompts", "Prompt logs set aside")):
        n_aside = int((quarantine["kind"] == kind).sum())
        yield f"quarantined_{kind}", label, _count(n_aside, len(quarantine)), "places set aside"


def _privacy_lines(redactions: pd.DataFrame | None, n_withdrawn: int) -> Iterator[Line]:
    if n_withdrawn:
        yield (
            "withdrawn",
            "Participants who withdrew and were left out",
            _count(n_withdrawn, n_withdrawn),
            "participants",
        )
    for kind, rows in redactions.groupby("kind", sort=True) if redactions is not None else ():
        label = f"{_KIND_LABELS[str(kind)]} replaced before judges were asked"
        searched, reasons = int(rows["n_searched"].sum()), rows["reason"].dropna()
        if len(reasons):
            yield f"redacted:{kind}", label, Estimate.undefined(str(reasons.iloc[0])), "texts"
        elif rows["n_replaced"].sum():
            yield f"redacted:{kind}", label, _count(rows["n_replaced"].sum(), searched), "texts"


def _verdict_word_lines(verdict_words: pd.DataFrame | None) -> Iterator[Line]:
    """Counted over the texts that were searched; undefined where none was, since judges are not shown them."""
    if verdict_words is None:
        return
    for place, label in _VERDICT_WORD_LABELS.items():
        rows = verdict_words[verdict_words["place"] == place]
        searched = int(rows["n_searched"].max()) if len(rows) else 0
        found, masked = int(rows["n_found"].sum()), int(rows["n_masked"].sum())
        if searched or place != "prompt_text":
            yield f"verdict_words:{place}", label, _count(found, searched), "texts"
        else:
            reasons = rows["reason"].dropna()
            why = str(reasons.iloc[0]) if len(reasons) else "no text was searched"
            yield f"verdict_words:{place}", label, Estimate.undefined(why), "texts"
        if masked:
            yield f"verdict_words_masked:{place}", f"{label}, masked", _count(masked, searched), "texts"


def _language_lines(attempts: pd.DataFrame) -> Iterator[Line]:
    n = len(attempts)
    counts = Counter(name for name in attempts["language"] if isinstance(name, str))
    yield "languages", "Programming languages, as the sites name them", _count(len(counts), n), "attempts"
    yield "without_language", "Attempts without a stated language", _count(n - sum(counts.values()), n), "attempts"
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"language:{name}", f"Attempts in {name}", _count(count, n), "attempts"


def _count(value: Any, n: int) -> Estimate:
    return Estimate(float(value), n)
