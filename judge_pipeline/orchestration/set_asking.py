"""Judges that are asked about one preference set, whatever is asked: through one checkpoint, one run at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.judging_run import failure_classes
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.orchestration.pair_judging_run import judging_context, place_of_set
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, PreferenceSettings
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.question import Question


@dataclass
class Tally:
    """What asking took in this run and those before it, for the UI."""

    taken: dict[str, float] = field(default_factory=dict)

    def add(self, judge: str, answers: pd.DataFrame) -> None:
        """Add what a table of answers says (``answers_table``)."""
        for name in ("n_tries", "tokens_in", "tokens_out", "cost_usd"):
            known = answers[name].dropna()
            if len(known):
                self._add(f"{judge}_{name}", float(known.sum()))
        self._add(f"{judge}_answers", float(answers["answer"].notna().sum()))
        self._add(f"{judge}_invalid", float(answers["answer"].isna().sum()))

    def metadata(self) -> dict[str, Any]:
        """All of it, counts as whole numbers."""
        return {name: value if name.endswith("_usd") else int(value) for name, value in sorted(self.taken.items())}

    def _add(self, name: str, value: float) -> None:
        self.taken[name] = self.taken.get(name, 0.0) + value


@dataclass(frozen=True)
class SetAsking:
    """Judges that are asked about one preference set, through one checkpoint.

    Attributes:
        context: of the running step.
        preference_set: the set.
        settings: its settings.
        checkpoint: what is answered.
        tally: what asking took.
        failed: failure class -> how many answers of this step failed so.
    """

    context: dg.AssetExecutionContext
    preference_set: str
    settings: PreferenceSettings
    checkpoint: Checkpoint
    tally: Tally = field(default_factory=Tally)
    failed: Counter[str] = field(default_factory=Counter)

    def answers(
        self, judge: str, judged_by: LitellmJudge | EmbeddedJudge, question: Question, rows: pd.DataFrame
    ) -> pd.DataFrame:
        """What the judge answers to rows of a question; only what is not stored is asked for.

        A run's limit is of pairs to judge and does not hold here: half of what a stage needs would be another thing.

        Args:
            judge: the judge's name.
            judged_by: its settings.
            question: what is asked.
            rows: what is asked about, at least one.

        Returns:
            Columns ``judging.answers_table.ANSWER_COLUMNS``, a row for each row asked, in their order.

        Raises:
            JudgingError: nothing can be asked at all.
        """
        from judge_pipeline.judging.answers_table import answers_table
        from judge_pipeline.judging.row_asking import ask_rows
        from judge_pipeline.preference.pair_question import IdsOfSet

        resource = self.context.resources.workspace
        workspace, name = resource.workspace(), self.preference_set
        folder, what = resource.preference_folder(name), f"{judge}, {question.name}"
        judging = replace(judging_context(self.context, workspace, name, self.settings, folder, what), limit=None)
        with one_asking(workspace, place_of_set(name), judge, lambda: self._wait(judge)):
            asked = ask_rows(
                judge, judged_by, question, rows,
                checkpoint=self.checkpoint, context=judging, of_whole=IdsOfSet(name),
            )  # fmt: skip
            table = answers_table(self.checkpoint, judge, asked)
        self.tally.add(judge, table)
        self.failed.update(table["failure_class"].dropna())
        for note in asked.notes:
            self.context.log.info(note)
        return table

    def all_answers(
        self, judge: str, judged_by: LitellmJudge | EmbeddedJudge, question: Question, rows: pd.DataFrame
    ) -> pd.DataFrame:
        """The same where what comes next needs every answer: invalid ones are the judge's own, missing ones an error.

        Raises:
            JudgingError: the provider failed to bring answers, or nothing can be asked at all. What was answered is
                kept.
        """
        from judge_pipeline.judging.failures import JudgingError
        from judge_pipeline.judging.settled import OWN_FAILURES

        table = self.answers(judge, judged_by, question, rows)
        absent = table[table["answer"].isna() & ~table["failure_class"].isin(OWN_FAILURES)]
        if len(absent):
            kinds = ", ".join(sorted({str(kind or "not asked") for kind in absent["failure_class"]}))
            said = next((text for text in absent["failure"] if isinstance(text, str)), "nothing")
            raise JudgingError(
                f"judge {judge}, {question.name}: {len(absent)} of {len(table)} answers are missing ({kinds}); the "
                f"first says: {said}. What was answered is kept; materialize again to ask only for the rest."
            )
        return table

    def failure(self, words: str) -> dg.Failure:
        """A failure of the step, with how many answers failed how."""
        return dg.Failure(
            f"preference set {self.preference_set}: {words}", metadata=failure_classes(self.failed), allow_retries=False
        )

    def _wait(self, judge: str) -> None:
        self.context.log.info(f"another run is asking {judge} for {self.preference_set}; waiting")
        self.context.resources.progress.waiting(judge)


@contextmanager
def set_asking(
    context: dg.AssetExecutionContext, preference_set: str, settings: PreferenceSettings
) -> Iterator[SetAsking]:
    """Judges to ask about the set; what cannot be asked at all, or set up, becomes a failure of the step.

    Raises:
        dagster.Failure: a setting, a prompt template, the checkpoint or an answer that all depends on is wrong; the
            message says what to do. What was answered is in the checkpoint.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.failures import JudgingError

    try:
        with closing(Checkpoint(context.resources.workspace.workspace().checkpoint_url)) as checkpoint:
            asking = SetAsking(context, preference_set, settings, checkpoint)
            try:
                yield asking
            except JudgingError as error:
                raise asking.failure(str(error)) from None
    except (JudgingError, SettingsError) as error:
        raise dg.Failure(f"preference set {preference_set}: {error}", allow_retries=False) from None
