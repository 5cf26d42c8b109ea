"""Believable co-creation tables, seeded, made without the pipeline: the input of the tests of figures and reports."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline import tables
from judge_pipeline.estimate import Estimate
from judge_pipeline.report.inputs import CocreationReportInput

HOSTILE = "</script><img src=http://evil.invalid/x onerror=\"window.hacked=1\"><a href='http://evil.invalid'>%{y}</a>"
LONG = "a-provider-with-a-long-name.some-model-family-with-extended-thinking-2026-11-29-preview"

THRESHOLD = 0.5
MANY_JUDGES = (
    "gpt-5.2", "gemini-2.5-pro", "claude-sonnet-4.5", "deepseek-reasoner", "smollm2-135m", "baseline-text",
    "simulated-sharp", "simulated-lenient", "simulated-overconfident", "simulated-noisy", LONG, "qwen-coder",
)  # fmt: skip


@dataclass
class Contest:
    """A drawn contest: one row an attempt, and p_ac for each judge."""

    attempts: pd.DataFrame
    p_ac: dict[str, np.ndarray]
    test: np.ndarray
    clusters: np.ndarray


@dataclass
class Made:
    """What a drawn contest is made of."""

    judges: Sequence[str] = ("baseline-text", "simulated-lenient", "simulated-noisy", "simulated-sharp", "smollm2-135m")
    participants: int = 12
    problems: int = 10
    seed: int = 7
    one_class: bool = False
    unverified: dict[str, str] = field(default_factory=dict)
    participant_name: Callable[[int], str] = lambda number: f"E{number + 1:03d}"
    quarantine: Sequence[dict[str, Any]] = ()


def made_tables(made: Made | None = None) -> CocreationReportInput:
    """The tables of a drawn contest, to be changed at will: what many tests look at is drawn once."""
    made = made or Made()
    key = (*made.judges, made.participants, made.problems, made.seed, made.one_class, *made.unverified.items(),
           made.participant_name, *map(repr, made.quarantine))  # fmt: skip
    if key not in _DRAWN:
        _DRAWN[key] = _tables_of(made)
    found = copy(_DRAWN[key])
    for name in found.schemas():
        table = getattr(found, name)
        if table is not None:
            object.__setattr__(found, name, table.copy())
    return found


_DRAWN: dict[tuple[object, ...], CocreationReportInput] = {}


def _tables_of(made: Made) -> CocreationReportInput:
    contest = _draw(made)
    verified = [judge for judge in made.judges if judge not in made.unverified]
    panel = [judge for judge in verified if not judge.startswith(("baseline", "smollm2"))]
    return CocreationReportInput(
        contest_overview=_overview(contest),
        ingest_quarantine=tables.INGEST_QUARANTINE.conform(made.quarantine),
        judge_coverage=_coverage(made, contest),
        judge_metrics=_metrics(contest, verified),
        judge_agreement=_agreement(contest, panel),
        judge_curves=_curves(contest, verified),
        trajectories=_trajectories(contest),
        struggle_curves=_struggle(contest, panel),
        success_at_turn=_success(contest),
        survival=_survival(contest),
        prompt_code_ned=_prompt_code(contest),
        prompt_code_summary=_prompt_code_summary(contest),
    )


def empty_tables() -> CocreationReportInput:
    """Every table without a row."""
    return CocreationReportInput(
        **{name: table.empty() for name, table in CocreationReportInput.schemas().items()}  # type: ignore[arg-type]
    )


def _draw(made: Made) -> Contest:
    random = np.random.default_rng(made.seed)
    rows = []
    for u in range(made.participants):
        for p in range(made.problems):
            solved = False
            for turn in range(1, int(random.geometric(0.45)) + 1):
                solved = bool(random.random() < 0.55) or made.one_class
                rows.append((made.participant_name(u), f"P{p + 1:02d}", turn, int(solved)))
                if solved and random.random() < 0.85:
                    break
    attempts = pd.DataFrame(rows, columns=["participant", "problem_id", "turn", "y"])
    attempts["attempt_id"] = [f"{number:016x}" for number in range(len(attempts))]
    clusters = attempts.groupby(["participant", "problem_id"], sort=False).ngroup().to_numpy()
    n_clusters = clusters.max() + 1
    split_of = np.array(["train"] * n_clusters, dtype=object)
    order = random.permutation(n_clusters)
    tenth = max(1, n_clusters // 10)
    split_of[order[:tenth]], split_of[order[tenth : 2 * tenth]] = "val", "test"
    attempts["split"] = split_of[clusters]
    skill = {"simulated-sharp": 2.5, "simulated-lenient": 1.0, "baseline-text": 0.8}
    p_ac = {}
    for judge in made.judges:
        logit = skill.get(judge, 0.2) * (attempts["y"].to_numpy() - 0.5) + random.normal(0, 1, len(attempts))
        p_ac[judge] = np.round(1 / (1 + np.exp(-logit * (3 if "overconfident" in judge else 1))), 2)
    return Contest(attempts, p_ac, (attempts["split"] == "test").to_numpy(), clusters)


def _overview(contest: Contest) -> pd.DataFrame:
    attempts = contest.attempts
    lengths = attempts.groupby(["participant", "problem_id"]).size()
    counts = {
        "participants": ("Participants", attempts["participant"].nunique()),
        "problems": ("Problems", attempts["problem_id"].nunique()),
        "trajectories": ("Trajectories (participant, problem)", len(lengths)),
        "attempts": ("Attempts", len(attempts)),
        "accepted": ("Accepted attempts", int(attempts["y"].sum())),
        "attempts_per_trajectory_mean": ("Attempts a trajectory, mean", float(lengths.mean())),
    }
    rows = [
        {
            "statistic": name,
            "label": label,
            "counted_over": "attempts",
            **Estimate(float(value), len(attempts)).to_row(),
        }
        for name, (label, value) in counts.items()
    ]
    return tables.CONTEST_OVERVIEW.conform(rows)


def _coverage(made: Made, contest: Contest) -> pd.DataFrame:
    rows = []
    for judge in made.judges:
        backend = "recorded" if judge.startswith("simulated") else "litellm"
        backend = {"baseline-text": "baseline", "smollm2-135m": "embedded"}.get(judge, backend)
        n = len(contest.attempts) if backend != "embedded" else int((contest.attempts["split"] != "train").sum())
        reason = made.unverified.get(judge)
        is_asked = backend in ("litellm", "embedded")
        rows.append(
            {
                "judge": judge, "backend": backend, "in_panel": backend in ("recorded", "litellm"),
                "status": "not judged" if reason else "verified",
                "scope": "val and test" if backend == "embedded" else "all attempts", "n_in_scope": n,
                "n_judged": 0 if reason else n, "n_repaired": 0 if reason else n // 20,
                "n_failed": 3 if is_asked and reason else 0,
                "failures": "refusal: 2, invalid: 1" if is_asked and reason else None,
                "n_tries": n + n // 10 if is_asked else None, "n_failed_tries": n // 10 if is_asked else None,
                "failed_tries": f"rate_limit: {n // 10}" if is_asked and n >= 10 else None,
                "cost_usd": 0.0123 * n if backend == "litellm" and not reason else None,
                "model": {"recorded": "simulated", "litellm": f"provider/{judge}"}.get(backend), "reason": reason,
            }
        )  # fmt: skip
    return tables.JUDGE_COVERAGE.conform(rows)


def _interval(random: np.random.Generator, value: float, low: float, high: float) -> tuple[float, float]:
    """An interval around a value, of a width as small tests have it."""
    down, up = random.uniform(0.05, 0.3, 2)
    return max(low, value - down), min(high, value + up)


def _metrics(contest: Contest, judges: Sequence[str]) -> pd.DataFrame:
    from sklearn import metrics as sk

    y = contest.attempts["y"].to_numpy()
    items = np.flatnonzero(contest.test)
    random = np.random.default_rng(11)
    rows = []

    def one_class(index: np.ndarray) -> bool:
        return len(set(y[index].tolist())) < 2

    for judge in judges:
        p = contest.p_ac[judge]
        figures: dict[str, Callable[[np.ndarray], float | None]] = {
            "roc_auc": lambda i, p=p: None if one_class(i) else float(sk.roc_auc_score(y[i], p[i])),
            "pr_auc": lambda i, p=p: None if one_class(i) else float(sk.average_precision_score(y[i], p[i])),
            "log_loss": lambda i, p=p: float(sk.log_loss(y[i], p[i], labels=[0, 1])),
            "brier": lambda i, p=p: float(np.mean((y[i] - p[i]) ** 2)),
            "ece": lambda i, p=p: float(abs(np.mean(y[i] - p[i]))),
            "mcc_test": lambda i, p=p: None if one_class(i) else float(sk.matthews_corrcoef(y[i], p[i] >= THRESHOLD)),
            "precision": lambda i, p=p: float(sk.precision_score(y[i], p[i] >= THRESHOLD, zero_division=0)),
            "recall": lambda i, p=p: float(sk.recall_score(y[i], p[i] >= THRESHOLD, zero_division=0)),
            "f1": lambda i, p=p: float(sk.f1_score(y[i], p[i] >= THRESHOLD, zero_division=0)),
            "accept_rate": lambda i, p=p: float(np.mean(p[i] >= THRESHOLD)),
        }
        for name, figure in figures.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = figure(items)
            few = "fewer than 50 test trajectories: the interval covers about 92%" if name == "roc_auc" else None
            reason = few if value is not None else "only one class on test"
            low, high = (-1.0, 1.0) if name == "mcc_test" else (0.0, 9.0 if name == "log_loss" else 1.0)
            ci95 = None if value is None else _interval(random, value, low, high)
            estimate = Estimate(value, len(items), 0, ci95, reason)
            rows.append({"judge": judge, "metric": name, "split": "test", **estimate.to_row()})
        n_val = int((contest.attempts["split"] == "val").sum())
        for name, value in (("mcc_val", 0.31), ("threshold", THRESHOLD), ("threshold_plateau_low", 0.48),
                            ("threshold_plateau_high", 0.52), ("log_loss_n_clipped", 1.0)):  # fmt: skip
            split = "test" if name == "log_loss_n_clipped" else "val"
            rows.append({"judge": judge, "metric": name, "split": split, **Estimate(value, n_val).to_row()})
    return tables.JUDGE_METRICS.conform(rows)


def _agreement(contest: Contest, panel: Sequence[str]) -> pd.DataFrame:
    from sklearn.metrics import cohen_kappa_score

    items = np.flatnonzero(contest.test)
    said = {judge: contest.p_ac[judge] >= 0.5 for judge in panel}
    rows, kappas = [], {}
    for first, second in combinations(panel, 2):
        a, b = said[first][items], said[second][items]
        constant = len(set(a)) == 1 and len(set(b)) == 1
        kappa = None if constant else float(cohen_kappa_score(a, b))
        kappas[first, second] = kappa
        estimate = Estimate(
            kappa, len(items), 0, None if kappa is None else (kappa - 0.3, min(1.0, kappa + 0.3)),
            "one label from everyone" if kappa is None else None,
        )  # fmt: skip
        rows.append(
            {"statistic": "cohen", "rated": "decision", "judge_1": first, "judge_2": second, **estimate.to_row()}
        )
        raw = Estimate(float(np.mean(a == b)), len(items))
        rows.append(
            {"statistic": "raw_agreement", "rated": "decision", "judge_1": first, "judge_2": second, **raw.to_row()}
        )
    for judge in panel:
        known = [kappa for pair, kappa in kappas.items() if judge in pair and kappa is not None]
        mean = (
            Estimate(float(np.mean(known)), len(items)) if known else Estimate.undefined("no defined pair", len(items))
        )
        rows.append(
            {"statistic": "judge_mean_cohen", "rated": "decision", "judge_1": judge, "judge_2": None, **mean.to_row()}
        )
    known = [kappa for kappa in kappas.values() if kappa is not None]
    for statistic, shift in (("mean_cohen", 0.0), ("fleiss", -0.05)):
        overall = (
            Estimate(float(np.mean(known)) + shift, len(items), 0, (-0.1, 0.4))
            if known
            else Estimate.undefined("fewer than two judges of the panel are verified")
        )
        rows.append({"statistic": statistic, "rated": "decision", "judge_1": None, "judge_2": None, **overall.to_row()})
    return tables.JUDGE_AGREEMENT.conform(rows)


def _curves(contest: Contest, judges: Sequence[str]) -> pd.DataFrame:
    from sklearn.metrics import precision_recall_curve, roc_curve

    y = contest.attempts["y"].to_numpy()[contest.test]
    rows: list[dict[str, Any]] = []
    for judge in judges:
        p = contest.p_ac[judge][contest.test]
        base = {"judge": judge, "ci95_low": None, "ci95_high": None, "reason": None}
        if len(set(y.tolist())) == 2:
            fpr, tpr, cuts = roc_curve(y, p, drop_intermediate=False)
            for k, (a, b, c) in enumerate(zip(fpr, tpr, cuts, strict=True), 1):
                cut = None if np.isinf(c) else c
                rows.append({**base, "curve": "roc", "point": k, "x": a, "y": b, "threshold": cut, "n": len(y)})
            precision, recall, cuts = precision_recall_curve(y, p)
            for k, (a, b) in enumerate(zip(recall, precision, strict=True), 1):
                cut = cuts[k - 1] if k <= len(cuts) else None
                rows.append({**base, "curve": "pr", "point": k, "x": a, "y": b, "threshold": cut, "n": len(y)})
        bins = np.clip(np.ceil(p * 15).astype(int) - 1, 0, 14)
        for k, b in enumerate(np.unique(bins), 1):
            inside = bins == b
            n, share = int(inside.sum()), float(y[inside].mean())
            low, high = _wilson(share, n)
            rows.append(
                {"judge": judge, "curve": "reliability", "point": k, "x": float(p[inside].mean()), "y": share,
                 "threshold": None, "n": n, "ci95_low": low, "ci95_high": high, "reason": None}
            )  # fmt: skip
        rows += _bands(judge, rows, len(y)) + _mcc_on_val(contest, judge)
    return tables.JUDGE_CURVES.conform(rows)


def _bands(judge: str, rows: Sequence[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """The judge's ROC and PR points on a grid, each with a band of some width."""
    bands = []
    for curve in ("roc", "pr"):
        points = sorted((row["x"], row["y"]) for row in rows if (row["judge"], row["curve"]) == (judge, curve))
        for k, x in enumerate(np.linspace(0, 1, 11) if points else (), 1):
            y = float(np.interp(x, *zip(*points, strict=True)))
            ends = {"ci95_low": max(0.0, y - 0.2), "ci95_high": min(1.0, y + 0.15)}
            bands.append(
                {"judge": judge, "curve": f"{curve}_band", "point": k, "x": float(x), "y": y, "threshold": None, "n": n,
                 "reason": None, **ends}
            )  # fmt: skip
    return bands


def _mcc_on_val(contest: Contest, judge: str) -> list[dict[str, Any]]:
    """MCC on val over the grid, as the correlation it is, without the thresholds that accept all or nothing."""
    val = (contest.attempts["split"] == "val").to_numpy()
    y, p = contest.attempts["y"].to_numpy()[val], contest.p_ac[judge][val]
    rows: list[dict[str, Any]] = []
    for t in np.arange(101) / 100:
        if len(set(y.tolist())) == 2 and 0 < (p >= t).sum() < len(p):
            mcc = float(np.corrcoef(y, p >= t)[0, 1])
            rows.append(
                {"judge": judge, "curve": "mcc_val", "point": len(rows) + 1, "x": t, "y": mcc, "threshold": t,
                 "n": len(y), "ci95_low": max(-1.0, mcc - 0.3), "ci95_high": min(1.0, mcc + 0.3), "reason": None}
            )  # fmt: skip
    return rows


def _prompt_code(contest: Contest) -> pd.DataFrame:
    random = np.random.default_rng(5)
    rows = [
        {"attempt_id": row["attempt_id"], "participant": row["participant"], "problem_id": row["problem_id"],
         "n_prompt_chars": 4000, "n_source_chars": 300, "ned": float(random.uniform(0.9, 0.99)), "reason": None}
        for row in contest.attempts[contest.test].to_dict("records")
    ]  # fmt: skip
    return tables.PROMPT_CODE_NED.conform(rows)


def _prompt_code_summary(contest: Contest) -> pd.DataFrame:
    ned = _prompt_code(contest)["ned"].to_numpy()
    mean, sd = float(ned.mean()), float(ned.std(ddof=1)) if len(ned) > 1 else 0.0
    return tables.PROMPT_CODE_SUMMARY.conform(
        [
            {"statistic": "mean", **Estimate(mean, len(ned), 0, (mean - 0.01, mean + 0.01)).to_row()},
            {"statistic": "sd", **Estimate(sd, len(ned), 0, (sd / 2, sd * 1.5)).to_row()},
        ]
    )


def _wilson(share: float, n: int) -> tuple[float, float]:
    z = 1.959964
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def _trajectories(contest: Contest) -> pd.DataFrame:
    rows = []
    for (participant, problem), turns in contest.attempts.groupby(["participant", "problem_id"], sort=True):
        y = turns.sort_values("turn")["y"].tolist()
        first = y.index(1) + 1 if 1 in y else None
        rows.append(
            {
                "participant": participant, "problem_id": problem, "split": turns["split"].iloc[0],
                "n_turns": len(y), "n_undecided": 0, "n_accepted": sum(y),
                "n_rejected_before_first_ac": (first or 1) - 1,
                "n_rejected_after_first_ac": y[first:].count(0) if first else 0, "first_ac_turn": first,
                "solved": first is not None, "time_turns": first or len(y), "event": first is not None,
            }
        )  # fmt: skip
    return tables.TRAJECTORIES.conform(rows)


def _struggle(contest: Contest, panel: Sequence[str]) -> pd.DataFrame:
    rows = []
    last: tuple[Any, Any, float | None] = (None, None, None)
    matrix = np.array([contest.p_ac[judge] for judge in panel]) if panel else None
    for k, row in enumerate(contest.attempts.to_dict("records")):
        mean = None if matrix is None else float(matrix[:, k].mean())
        same = last[:2] == (row["participant"], row["problem_id"]) and mean is not None and last[2] is not None
        change = mean - last[2] if same and mean is not None and last[2] is not None else None
        last = (row["participant"], row["problem_id"], mean)
        rows.append(
            {
                "attempt_id": row["attempt_id"], "participant": row["participant"], "problem_id": row["problem_id"],
                "turn": row["turn"], "y": row["y"], "p_mean": mean, "n_judges": len(panel), "delta_p_mean": change,
                "reason": None if mean is not None else "no judge of the panel is verified",
            }
        )  # fmt: skip
    return tables.STRUGGLE_CURVES.conform(rows)


def _success(contest: Contest) -> pd.DataFrame:
    trajectories = _trajectories(contest)
    n = len(trajectories)
    rows = []
    for turn in range(1, int(trajectories["n_turns"].max()) + 1):
        solved = int((trajectories["first_ac_turn"] <= turn).sum())
        share = solved / n
        rows.append({"turn": turn, "n_solved": solved, **Estimate(share, n, 0, _wilson(share, n)).to_row()})
    return tables.SUCCESS_AT_TURN.conform(rows)


def _survival(contest: Contest) -> pd.DataFrame:
    trajectories = _trajectories(contest)
    n, value = len(trajectories), 1.0
    time, event = trajectories["time_turns"].astype(int), trajectories["event"].astype(bool)
    rows: list[dict[str, Any]] = [
        {"turn": 0, "n_at_risk": n, "n_events": 0, "n_censored": 0, **Estimate(1.0, n).to_row()}
    ]
    for turn in range(1, int(time.max()) + 1):
        at_risk, events = int((time >= turn).sum()), int(((time == turn) & event).sum())
        value *= 1 - events / at_risk
        rows.append(
            {"turn": turn, "n_at_risk": at_risk, "n_events": events,
             "n_censored": int(((time == turn) & ~event).sum()),
             **Estimate(value, n, 0, _wilson(value, n)).to_row()}
        )  # fmt: skip
    return tables.SURVIVAL.conform(rows)
