"""What the trace pages of a contest show: its attempts, and what judges forecast of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_pipeline.lineage.sources import CONTEST
from judge_pipeline.orchestration.trace_pages import TracePages, facts_of, prompt_template, records, took
from judge_pipeline.report import trace_index_page as shown
from judge_pipeline.report.inputs import judge_kinds
from judge_pipeline.report.trace_page import number
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import ATTEMPTS, JUDGE_COVERAGE, JUDGE_OUTPUTS, PREDICTIONS

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from judge_pipeline.orchestration.tracing import Tracer


class ContestPages(TracePages):
    """The pages of one contest; points of curves are not on them: ``judge-pipeline trace`` leads them home, too."""

    kind, words = CONTEST, shown.OF_CONTEST
    headline = (
        "judge_metrics", "judge_agreement", "judge_differences", "judge_scores", "judge_calibration", "judge_panels",
        "acceptance_rates", "judge_canary_effects", "anchor_figures", "rerating_agreement", "success_at_turn",
        "survival", "survival_groups", "pattern_groups", "hazards", "churn_summary", "revision_gains", "churn_effects",
        "prompt_code_summary", "contest_overview",
    )  # fmt: skip

    def __init__(self, tracer: Tracer, of: str) -> None:
        super().__init__(tracer, of, list(tracer.traced.sources(CONTEST, of)[ATTEMPTS]["attempt_id"]))
        self._predictions, self._coverage = self.sources[PREDICTIONS], self.sources[JUDGE_COVERAGE]
        self.judges = sorted(set(self._predictions["judge"]))
        self._kinds = judge_kinds(self._coverage)

    def label(self, judge: str) -> str:
        """As the table of coverage has it."""
        return self._kinds[judge].label if judge in self._kinds else judge

    def anchor(self, place: int) -> str:
        """Made of the attempt's id, which is a hash."""
        return f"a-{self.subjects[place]}"

    def times(self, rows: pd.DataFrame) -> tuple[Sequence[str], NDArray[np.int64]]:
        """A row may be of several attempts, and n counts rows: each attempt is listed once."""
        attempts = self.files.attempts_in(rows)
        return attempts, np.ones(len(attempts), np.int64)

    def facts(self, subject: str) -> Sequence[str]:
        """Whose attempt it is, at what, and how it was decided."""
        about = self.tracer.about(self.kind, self.of, subject)
        names = ("participant", "problem_id", "turn", "verdict", "split")
        return [str(about.get(name, "")) for name in names]

    def files_of(self, subject: str) -> Sequence[str]:
        """Its artifact, and its program's file where that is another."""
        return self.files.of_attempt(subject)

    def versions(self) -> Iterable[tuple[str, str]]:
        """The files of settings that there are."""
        return [(f"{name}, sha256", sha256) for name, sha256 in self.tracer.settings_sha256.items()]

    def of_judge(self, judge: str) -> Iterator[shown.JudgeJudgments]:
        """Its predictions, with what each answer took."""
        given = self._predictions[self._predictions["judge"] == judge]
        outputs = self.sources.of_judge(JUDGE_OUTPUTS, judge).set_index("attempt_id", drop=False)
        facts = next((row for row in records(self._coverage) if row["judge"] == judge), {})
        templates = self._templates(judge)
        for of_page, place in self.paged(judge, len(given)):
            rows = given.iloc[of_page]
            of_rows = outputs[outputs.index.isin(rows["attempt_id"])]
            took_by = {row["attempt_id"]: row for row in records(of_rows)}
            lines = [self._line_of(row, took_by.get(row["attempt_id"], {})) for row in records(rows)]
            yield shown.JudgeJudgments(
                self.words, self.of, judge, self.label(judge), facts_of(facts), templates, lines, place
            )

    def _line_of(self, row: Mapping[str, Any], output: Mapping[str, Any]) -> shown.JudgmentLine:
        scores = [f"{name} {row[name]}" for name in ("s_algo", "s_robust") if row[name] is not None]
        attempt = row["attempt_id"]
        return shown.JudgmentLine(
            attempt, self.address(attempt), f"a-{attempt}",
            f"{row['participant']}, {row['problem_id']}, turn {row['turn']}, {row['verdict']}, {row['split']}",
            number(float(row["p_ac"])), ", ".join(scores) or "–", row["rationale"] or "–", output.get("model") or "–",
            took(output), row["request_hash"], output.get("repair") or "",
        )  # fmt: skip

    def _templates(self, judge: str) -> list[shown.PromptTemplate]:
        workspace = self.tracer.workspace
        try:
            settings = workspace.judges().get(judge)
        except SettingsError:
            return []
        if not isinstance(settings, LitellmJudge | EmbeddedJudge):
            return []
        return [prompt_template(workspace, settings.prompt)]
