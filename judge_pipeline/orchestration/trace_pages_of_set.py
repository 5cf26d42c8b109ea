"""What the trace pages of a preference set show: its pairs, and what judges chose, or said criterion by criterion.

The two reports of a set have pages of their own each, so that the job that makes a report makes what it links to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_pipeline.lineage.basis import COUNTS
from judge_pipeline.lineage.judgments import Said, criteria_of
from judge_pipeline.lineage.sources import PREFERENCE_SET, MissingTableError
from judge_pipeline.orchestration.criteria_reports import kinds_of
from judge_pipeline.orchestration.preference_sets import preference_folders
from judge_pipeline.orchestration.trace_pages import TracePages, facts_of, prompt_template, records, took
from judge_pipeline.report import trace_index_page as shown
from judge_pipeline.report.inputs import judge_kinds
from judge_pipeline.report.trace_page import number
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, RewardJudge, packaged_config_dir
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import PREFERENCE_PAIRS
from judge_pipeline.tables.criteria import CRITERIA_CALLS
from judge_pipeline.tables.criteria_ablation import CRITERIA_ABLATION
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from judge_pipeline.lineage.basis import Basis
    from judge_pipeline.lineage.figures import Figure
    from judge_pipeline.orchestration.tracing import Tracer
    from judge_pipeline.table_schema import Table


_TEMPLATES = ("criteria_*.md.j2", "guidance_*.md.j2")
_COUNTS = {"n_requests": "requests", "n_calls": "calls", "n_invalid": "without a valid answer", "n_pairs": "pairs"}


class _SetPages(TracePages):
    """What both kinds of pages of a set have in common: pairs, and settings in force."""

    kind = PREFERENCE_SET
    settings: tuple[str, ...]

    def __init__(self, tracer: Tracer, of: str) -> None:
        super().__init__(tracer, of, list(tracer.traced.sources(PREFERENCE_SET, of)[PREFERENCE_PAIRS]["pair_id"]))
        self.chosen_by = tracer.workspace.preference(preference_folders(tracer.workspace)[of]).chosen_by

    def anchor(self, place: int) -> str:
        """Its number in the table of pairs: ids of pairs are people's, and may hold what an anchor must not."""
        return f"pair-{place + 1}"

    def times(self, rows: pd.DataFrame) -> tuple[Sequence[str], NDArray[np.int64]]:
        """A pair counts once for each row, and each time that the row counts."""
        if "pair_id" not in rows.columns:
            return (), np.zeros(0, np.int64)
        counts = rows[COUNTS].to_numpy(np.int64) if COUNTS in rows.columns else np.ones(len(rows), np.int64)
        return rows["pair_id"].tolist(), counts

    def facts(self, subject: str) -> Sequence[str]:
        """Its label, what kind of pair it is, and where it was read."""
        about = self.tracer.about(self.kind, self.of, subject)
        return [str(about.get(name, "")) for name in ("w", "category", "language", "split", "place")]

    def files_of(self, subject: str) -> Sequence[str]:
        """The file that it was read from."""
        return self.files.of_pair(subject)

    def versions(self) -> Iterator[tuple[str, str]]:
        """The settings in force: where the workspace has none of its own, those of the package."""
        for name in self.settings:
            own = self.tracer.workspace.config_dir / name
            file = own if own.is_file() else packaged_config_dir() / name
            yield f"{name}, sha256", hashlib.sha256(file.read_bytes()).hexdigest()

    def read(self, table: Table) -> pd.DataFrame:
        """A table of the set; no row where it is not there."""
        with suppress(MissingTableError):
            return self.sources[table]
        return table.empty()

    def own_anchor(self, pair: str) -> str:
        """The same anchor on a judge's page; "" of a pair that is read no more."""
        return self.address(pair).partition("#")[2]

    def what(self, pair: str, *asked: str) -> str:
        """Which pair a judgment is of, in words, and what else was asked."""
        about = self.tracer.about(self.kind, self.of, pair)
        label = "both are bad" if about.get("both_bad") else about.get("w")
        known = [label and f"label {label}", about.get("category"), about.get("split")]
        return ", ".join(str(each) for each in (*asked, *known) if each)


class PreferencePages(_SetPages):
    """The pages beside a set's report: what judges chose on pairs."""

    words, settings = shown.OF_PREFERENCE, ("judges.yaml", "preference.yaml")
    headline = (
        "preference_accuracy", "rubric_score_agreement", "preference_models", "preference_model_fits", "misalignment",
        "dataset_profile",
    )  # fmt: skip

    def __init__(self, tracer: Tracer, of: str) -> None:
        super().__init__(tracer, of)
        self._coverage = self.read(PAIR_JUDGE_COVERAGE)
        self._kinds = judge_kinds(self._coverage)
        self._judged = dict(self._judgments())
        self.judges = sorted(self._judged)

    def _judgments(self) -> Iterator[tuple[str, pd.DataFrame]]:
        for judge in self.sources.judges_with(PAIR_JUDGMENTS):
            with suppress(MissingTableError):  # damaged: pair_judge_coverage says so
                yield judge, self.sources.of_judge(PAIR_JUDGMENTS, judge)

    def label(self, judge: str) -> str:
        """As the table of coverage has it."""
        return self._kinds[judge].label if judge in self._kinds else judge

    def of_judge(self, judge: str) -> Iterator[shown.JudgeJudgments]:
        """Its choices in both orders, with what each answer took."""
        given, seen = self._judged[judge], set[str]()
        facts = next((row for row in records(self._coverage) if row["judge"] == judge), {})
        templates = self._templates(judge)
        for of_page, place in self.paged(judge, len(given)):
            lines = []
            for row in records(given.iloc[of_page]):
                lines.append(self._line_of(row, first=row["pair_id"] not in seen))
                seen.add(row["pair_id"])
            yield shown.JudgeJudgments(
                self.words, self.of, judge, self.label(judge), facts_of(facts), templates, lines, place
            )

    def _line_of(self, row: Mapping[str, Any], *, first: bool) -> shown.JudgmentLine:
        pair, chose = row["pair_id"], row["decision"]
        picked = {"first": "the first", "second": "the second", "tie": "neither"}
        beside = [f"picked {picked[row['slot']]}"] if row["slot"] else []
        scores = ("p_first", "score_first", "score_second")
        beside += [f"{name} {number(row[name])}" for name in scores if row[name] is not None]
        order = f"{'A' if row['presentation_order'] == 'AB' else 'B'} shown first"
        return shown.JudgmentLine(
            pair, self.address(pair), self.own_anchor(pair) if first else "", self.what(pair, order),
            chose or f"invalid: {(row['failure_class'] or 'no reason given').replace('_', ' ')}",
            ", ".join(beside) or "–", row["rationale"] or row["failure"] or "–", row["model"] or "–", took(row),
            row["request_hash"] or "–", row["repair"] or "",
        )  # fmt: skip

    def _templates(self, judge: str) -> list[shown.PromptTemplate]:
        from judge_pipeline.preference.pair_question import pair_question

        workspace = self.tracer.workspace
        with suppress(SettingsError):
            settings = workspace.judges().get(judge)
            if isinstance(settings, LitellmJudge | EmbeddedJudge | RewardJudge):
                return [prompt_template(workspace, pair_question(may_tie=False).template(settings))]
        return []


class CriteriaPages(_SetPages):
    """The pages beside a set's report on criteria: what each judge@configuration said at every stage."""

    words, settings = shown.OF_CRITERIA, ("judges.yaml", "preference.yaml", "criteria.yaml")
    headline = ("criteria_ablation", "criteria_aspects")

    def __init__(self, tracer: Tracer, of: str) -> None:
        super().__init__(tracer, of)
        rows = self.read(CRITERIA_ABLATION)
        rows = rows[rows["configuration"].notna()]
        self.judges = sorted(
            {f"{judge}@{name}" for judge, name in zip(rows["judge"], rows["configuration"], strict=True)}
        )

        self._kinds = kinds_of(tracer.workspace, {judge.partition("@")[0] for judge in self.judges})

    def label(self, judge: str) -> str:
        """The judge as judges.yaml has it now, and its configuration."""
        who, _, configuration = judge.partition("@")
        return f"{self._kinds[who].label if who in self._kinds else who}, configuration {configuration}"

    def answered_by(self, basis: Basis, figure: Figure) -> Sequence[str]:
        """The judge with its configuration, and with that over which it gains."""
        row = figure.row
        names = {row[of] for of in ("configuration", "against") if row.get(of)} if basis.judges else set()
        return [f"{row['judge']}@{name}" for name in sorted(names)]

    def versions(self) -> Iterator[tuple[str, str]]:
        """The templates of criteria and guidance, too."""
        yield from super().versions()
        folder = self.tracer.workspace.config_dir / "prompts"
        for file in sorted(file for pattern in _TEMPLATES for file in folder.glob(pattern)):
            yield f"{file.name}, sha256", prompt_template(self.tracer.workspace, file.name).sha256

    def of_judge(self, judge: str) -> Iterator[shown.JudgeJudgments]:
        """What it said of each pair, stage by stage."""
        by_pair: dict[str, list[Said]] = {pair: [] for pair in self.subjects}
        who, _, configuration = judge.partition("@")
        for said in criteria_of(self.sources, who, configuration, by_pair):
            by_pair[said.subject].append(said)
        every = [(said, place == 0) for of_pair in by_pair.values() for place, said in enumerate(of_pair)]
        calls = list(self._calls(judge))
        for of_page, place in self.paged(judge, len(every)):
            lines = [self._line_of(said, first=first) for said, first in every[of_page]]
            yield shown.JudgeJudgments(self.words, self.of, judge, self.label(judge), calls, [], lines, place)

    def _calls(self, judge: str) -> Iterator[tuple[str, str]]:
        """What each stage took."""
        with suppress(MissingTableError):
            for row in records(self.sources.of_judge(CRITERIA_CALLS, judge)):
                counts = [f"{row[name]:,} {words}" for name, words in _COUNTS.items()]
                yield row["stage"].replace("_", " "), f"{', '.join(counts)}; {took(row)}"

    def _line_of(self, given: Said, *, first: bool) -> shown.JudgmentLine:
        pair, said = given.subject, dict(given.said)
        rationale = said.pop("rationale", None) or said.pop("why", None)
        main = next(iter(said), None)
        value = (
            "–" if main is None else _said(said.pop(main)) if main != "failure_class" else f"invalid: {said.pop(main)}"
        )
        stage = given.table.replace("_", " ")
        return shown.JudgmentLine(
            pair, self.address(pair), self.own_anchor(pair) if first else "",
            self.what(pair, f"{stage} {given.asked}".strip()) if first else f"{stage} {given.asked}".strip(), value,
            ", ".join(f"{name.replace('_', ' ')} {_said(v)}" for name, v in said.items()) or "–", rationale or "–",
            request_hash=given.request_hash or "–",
        )  # fmt: skip


def _said(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else number(value)
