"""What figures over all contests, or all preference sets, rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge_pipeline.lineage.basis import COUNTS, Basis, Further, rows_of, without
from judge_pipeline.lineage.of_judges import AT_THRESHOLD, CHOSEN_ON_VAL, answered_of
from judge_pipeline.lineage.sources import CONTEST, PREFERENCE_SET, Sources
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_OUTPUTS,
    JUDGE_REQUESTS,
    PREDICTIONS,
    SPLIT_ASSIGNMENTS,
)
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.cocreation.judged_attempts import JudgedAttempts

Row = Mapping[str, Any]

_ACCURACY = ("roc_auc", "mcc_test", "brier")
_COST = "cost_per_1000_usd"


def of_leaderboard(sources: Sources, row: Row) -> Basis:
    """A row of ``leaderboard``: the test attempts of all contests that the judge answered, or its priced answers."""
    judge, metric = row["judge"], row["metric"]
    if metric not in _ACCURACY:
        return sources.once(("spending", judge, metric == _COST), lambda: _answers_with(sources, judge, metric))
    on_val = CHOSEN_ON_VAL if metric in AT_THRESHOLD else None
    key = ("leaderboard", judge, on_val)
    return sources.once(key, lambda: _in_contests(sources, answered_of(_pooled(sources), (judge,), ("test",), on_val)))


def _pooled(sources: Sources) -> JudgedAttempts:
    from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
    from judge_pipeline.cocreation.leaderboard import pooled

    def make() -> JudgedAttempts:
        predictions = {name: own[PREDICTIONS] for name, own in sources.of_kind(CONTEST).items()}
        return JudgedAttempts.of(pooled(predictions))

    return sources.once("pooled", make)


def _in_contests(sources: Sources, basis: Basis) -> Basis:
    """The same with the contest of each attempt."""

    def contest_of() -> dict[str, str]:
        return {
            attempt: name
            for name, own in sources.of_kind(CONTEST).items()
            for attempt in own[PREDICTIONS]["attempt_id"].unique()
        }

    contests = sources.once("contest of attempts", contest_of)

    def with_contest(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(contest=rows["attempt_id"].map(contests))

    also = tuple(Further(further.words, with_contest(further.rows)) for further in basis.also)
    return Basis(basis.unit, with_contest(basis.used), with_contest(basis.left_out), also, basis.judges, True)


def _answers_with(sources: Sources, judge: str, metric: str) -> Basis:
    """The judge's answers in all contests of which the price, or the time, is known."""
    import pandas as pd

    column, why = ("cost_usd", "no price is known") if metric == _COST else ("latency_ms", "it took no call")
    parts = []
    for name, own in sources.of_kind(CONTEST).items():
        if judge in set(own[PREDICTIONS]["judge"]) and judge in own.judges_with(JUDGE_OUTPUTS):
            parts.append(own.of_judge(JUDGE_OUTPUTS, judge)[["attempt_id", column]].assign(contest=name))
    rows = pd.concat(parts, ignore_index=True) if parts else rows_of(["attempt_id", column, "contest"])
    known = rows[column].notna()
    keys = ["attempt_id", "contest"]
    return Basis("answers", rows.loc[known, keys], without(rows.loc[~known, keys], why), (), (judge,), True)


def of_version(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_versions``: the attempts of its split that were answered under the version."""
    contest, judge = row["contest"], row["judge"]
    version = tuple(row[name] or "" for name in ("judge", "prompt_sha256", "model", "asked_with"))
    split = "val" if row["metric"] in ("threshold", "mcc_val") else "test"
    on_val = CHOSEN_ON_VAL if row["metric"] in AT_THRESHOLD else None

    def make() -> Basis:
        judged, labels = _versions(sources, contest)
        found = answered_of(judged, (labels[version],), (split,), on_val)
        used, left = (rows.assign(contest=contest) for rows in (found.used, found.left_out))
        left["why"] = [why.replace(labels[version], "this version") for why in left["why"]]
        also = tuple(Further(f.words, f.rows.assign(contest=contest)) for f in found.also)
        return Basis(found.unit, used, left, also, (judge,), True)

    return sources.once(("version", contest, version, split, on_val), make)


def _versions(sources: Sources, contest: str) -> tuple[JudgedAttempts, dict[tuple[str, ...], str]]:
    """The answers of every version of every judge as arrays, and under which name each version stands there."""
    from judge_pipeline.cocreation.judge_versions import VERSION, answers_by_version
    from judge_pipeline.cocreation.judged_attempts import JudgedAttempts

    def make() -> tuple[JudgedAttempts, dict[tuple[str, ...], str]]:
        own = sources.others[CONTEST, contest]
        outputs = {judge: own.of_judge(JUDGE_OUTPUTS, judge) for judge in own.judges_with(JUDGE_OUTPUTS)}
        outputs = {judge: rows for judge, rows in outputs.items() if judge in set(own[PREDICTIONS]["judge"])}
        answers = answers_by_version(own[PREDICTIONS], sources.answers(), own[JUDGE_REQUESTS], outputs)
        keys = list(dict.fromkeys(answers[VERSION].itertuples(index=False, name=None)))
        labels = {key: f"{place:06d}" for place, key in enumerate(keys)}
        answers["judge"] = [labels[key] for key in answers[VERSION].itertuples(index=False, name=None)]
        splits = own[SPLIT_ASSIGNMENTS][["participant", "problem_id", "split"]]
        attempts = own[ATTEMPTS].merge(splits, on=["participant", "problem_id"], how="left")
        columns = ["attempt_id", "participant", "problem_id", "y", "split"]
        long = answers[["attempt_id", "judge", "p_ac"]].merge(attempts[columns], on="attempt_id")
        return JudgedAttempts.of(long), labels

    return sources.once(("versions", contest), make)


def of_rank(sources: Sources, row: Row) -> Basis:
    """A row of ``preference_ranks``: the judges of which both sets have the figure, which rests on their pairs."""
    sets, figure = (row["set_1"], row["set_2"]), row["figure"]

    def make() -> Basis:
        from judge_pipeline.lineage.of_pairs import of_accuracy

        found = [_figures(sources, name, figure) for name in sets]
        both = [judge for judge in dict.fromkeys((*found[0], *found[1])) if all(judge in of for of in found)]
        known = [judge for judge in both if all(of[judge]["value"] is not None for of in found)]
        others = [judge for judge in dict.fromkeys((*found[0], *found[1])) if judge not in known]
        also = []
        for name, of in zip(sets, found, strict=True):
            own = sources.others[PREFERENCE_SET, name]
            for judge in known:
                used = of_accuracy(own, of[judge]).used
                words = f"{figure} of {judge} on {name} rests on these pairs"
                also.append(Further(words, used.drop(columns=COUNTS, errors="ignore").assign(preference_set=name)))
        rows = rows_of(["judge"], [[judge] for judge in known])
        left = without(rows_of(["judge"], [[judge] for judge in others]), "not known of both sets")
        return Basis("judges", rows, left, tuple(also), tuple(known))

    return sources.once(("ranks", sets, figure), make)


def _figures(sources: Sources, preference_set: str, figure: str) -> dict[str, dict[str, Any]]:
    """Judge -> its row of ``preference_accuracy`` over all pairs under the rule, of the judges that are ranked."""
    own = sources.others[PREFERENCE_SET, preference_set]
    table = own[PREFERENCE_ACCURACY].astype("object")
    table = table.where(table.notna(), None)
    table = table[(table["rule"] == sources.options.scoring_rule) & (table["of"] == "judge")]
    table = table[(table["figure"] == figure) & table["category"].isna() & table["name"].isin(sources.options.panel)]
    return {row["name"]: row for row in ({str(k): v for k, v in r.items()} for r in table.to_dict("records"))}


RULES = {"leaderboard": of_leaderboard, "judge_versions": of_version, "preference_ranks": of_rank}
"""Table of figures -> what a row of it rests on."""
