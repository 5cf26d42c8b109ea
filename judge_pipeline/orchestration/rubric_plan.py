"""What finding and scoring a set's rubric would ask of whom, and roughly its price; nothing is asked.

Scores are counted on the rubric that is in force. Where items are still to be found, as many as may be are counted,
with words of a usual length: what they will say is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.pair_judging_run import PairInputs
from judge_pipeline.orchestration.rubric_run import (
    RUBRIC_FILE,
    asked_settings,
    editable_file,
    items_per_call,
    too_weak,
)
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.whole_files import is_there
from judge_pipeline.settings import PreferenceSettings, Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables.rubric import RUBRIC

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.plan import Plan
    from judge_pipeline.judging.question import Question
    from judge_pipeline.preference.rubric_items import Item

_USUAL_TITLE_CHARS = 40
_USUAL_POLE_CHARS = 120


@dataclass(frozen=True)
class RubricPlan:
    """What one step of the rubric would ask.

    Attributes:
        role: what the judge does: proposer, merger, scorer or second scorer.
        judge: the judge.
        plan: what would be asked; its name is judge and role.
        missing_key: the environment variable that the judge needs and that is not set; None: none is missing.
        note: what the number of calls rests on.
    """

    role: str
    judge: str
    plan: Plan
    missing_key: str | None
    note: str


def plan_rubric(workspace: Workspace, name: str, folder: Path) -> list[RubricPlan]:
    """A plan for each judge that section ``rubric`` names and that would be asked.

    Args:
        workspace: where settings, tables and the checkpoint lie.
        name: the set.
        folder: its folder.

    Raises:
        FileNotFoundError: the set was never read.
        JudgingError: a prompt template is missing or wrong, or the checkpoint cannot be used.
        SettingsError: a file of items is wrong, or a judge that is named cannot be asked.
    """
    from judge_pipeline.judging.checkpoint.store import Checkpoint

    settings = workspace.preference(folder)
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        return list(_Planning(workspace, name, folder, settings, PairInputs.stored(workspace, name), checkpoint).all())


@dataclass(frozen=True)
class _Planning:
    workspace: Workspace
    name: str
    folder: Path
    settings: PreferenceSettings
    inputs: PairInputs
    checkpoint: Checkpoint

    def all(self) -> Iterator[RubricPlan]:
        rubric = self.settings.rubric
        finds = rubric.generate and rubric.proposer is not None and too_weak(self.workspace, self.settings) is None
        if finds and rubric.proposer is not None:
            yield from self._finding(rubric.proposer)
        if rubric.scorer is None and rubric.second_scorer is None:
            return
        items, note = self._items(finds)
        if not items:
            return
        if rubric.scorer is not None:
            yield self._scoring("scorer", rubric.scorer, self.inputs.texts, items, note)
        if rubric.second_scorer is not None:
            from judge_pipeline.preference.rubric_agreement import sampled_pairs

            texts = self.inputs.texts
            sampled = sampled_pairs(texts["pair_id"].tolist(), rubric.agreement_pairs, self.settings.seed)
            own = texts[texts["pair_id"].isin(sampled)]
            yield self._scoring("second scorer", rubric.second_scorer, own, items, note)

    def _finding(self, proposer: str) -> Iterator[RubricPlan]:
        """Proposals and their merging: the first round is counted, and later ones are taken to be like it."""
        from judge_pipeline.preference.rubric_discovery import first_batches
        from judge_pipeline.preference.rubric_questions import MERGE, PROPOSALS, merge_shown, requests

        rubric, human = self.settings.rubric, self._human()
        splits = self.inputs.splits
        own = splits.loc[splits["split"].isin(rubric.splits), "pair_id"]
        texts = self.inputs.texts[self.inputs.texts["pair_id"].isin(own)]
        if texts.empty:
            return
        rounds = rubric.rounds if rubric.scorer is not None else 1  # without scores there is no second round
        batches = first_batches(self.name, texts, human, rubric, self.settings.seed)
        first = self._plan("proposer", proposer, PROPOSALS, batches)
        later = 0 if first.n_to_ask == 0 else rounds - 1
        yield self._told(
            "proposer", proposer, _times(first, 1 + later), f"at most {rounds} round(s), all like the first"
        )
        if first.n_to_ask == 0:
            return  # what is proposed is known, and was merged
        n = len(batches) * rubric.axes
        pool = {f"p{place}": _to_be_found(place, 1) for place in range(1, min(n, rubric.merge_at_once) + 1)}
        kept = {f"k{place}": item for place, item in enumerate(human, start=1)}
        rows = requests({f"{self.name}/merge": merge_shown(kept, pool, rubric.at_most)})
        judge = rubric.merger or proposer
        parts = ceil(n / rubric.merge_at_once)
        calls = rounds * (1 if parts == 1 else parts + 1)
        merging = _times(self._plan("merger", judge, MERGE, rows), calls)
        yield self._told("merger", judge, merging, f"for {n:,} proposals a round, of usual length")

    def _items(self, finds: bool) -> tuple[Sequence[Item], str]:
        """The rubric that is in force, as far as it is known, and what it is in words."""
        from judge_pipeline.preference.rubric_file import rubric_in_force
        from judge_pipeline.preference.rubric_items import items_of
        from judge_pipeline.settings.rubrics import RubricFile
        from judge_pipeline.settings.yaml_file import load

        own, brought = editable_file(self.workspace, self.name), self.folder / RUBRIC_FILE
        found, words = self._human(), "items of the rubric"
        if finds:
            found, words = (*found, *self._still_to_be_found(len(found))), "items, if as many are found as may be"
            with suppress(FileNotFoundError, TableError):
                found = items_of(store_of(self.workspace).read(RUBRIC, self.name))
                words = "items of the rubric that was found last"
        written = load(RubricFile, own) if is_there(own) else None
        force = rubric_in_force(found, written, load(RubricFile, brought) if is_there(brought) else None)
        return force.items, words if force.source == "found" else "items of the rubric"

    def _human(self) -> tuple[Item, ...]:
        from judge_pipeline.preference.rubric_items import human_items
        from judge_pipeline.settings.rubrics import read_human_rubric

        file = self.settings.rubric.human_items
        return human_items(None if file is None else read_human_rubric(self.workspace.config_dir, file))

    def _still_to_be_found(self, n_human: int) -> list[Item]:
        """As many as may be, each of the round in which there is room for it: those of two rounds share no call."""
        rubric = self.settings.rubric
        rounds = rubric.rounds if rubric.scorer is not None else 1
        room = max(0, rubric.at_most - n_human)
        ends = [ceil(room * number / rubric.rounds) for number in range(rounds + 1)]
        return [
            _to_be_found(place, number)
            for number in range(1, rounds + 1)
            for place in range(ends[number - 1] + 1, ends[number] + 1)
        ]

    def _scoring(self, role: str, judge: str, texts: pd.DataFrame, items: Sequence[Item], note: str) -> RubricPlan:
        from judge_pipeline.preference.rubric_pairs import shown_pairs
        from judge_pipeline.preference.rubric_questions import SCORES
        from judge_pipeline.preference.rubric_scores import score_requests

        at_once = items_per_call(self.workspace, judge, self.settings)
        pairs = shown_pairs(texts, self.settings.rubric.pair_chars)
        asked = score_requests(self.name, pairs, items, at_once)
        words = f"{len(pairs):,} pairs in both orders, {len(items)} {note}, {at_once} a call"
        return self._told(role, judge, self._plan(role, judge, SCORES, asked.rows), words)

    def _plan(self, role: str, judge: str, question: Question, rows: pd.DataFrame) -> Plan:
        from judge_pipeline.judging.row_asking import plan_rows

        settings, prompts = asked_settings(self.workspace, judge), self.workspace.config_dir / "prompts"
        plan = plan_rows(judge, settings, question, rows, self.checkpoint, prompts)
        return replace(plan, judge=f"{judge} ({role})")

    def _told(self, role: str, judge: str, plan: Plan, note: str) -> RubricPlan:
        missing = asked_settings(self.workspace, judge).missing_key(key_environment()) if plan.n_to_ask else None
        return RubricPlan(role, judge, plan, missing, note)


def _to_be_found(place: int, round_: int) -> Item:
    """An item in the place of one that is still to be found: of usual length, saying nothing."""
    from judge_pipeline.preference.rubric_items import Item

    title, pole = (f"{place} ".ljust(chars, "x") for chars in (_USUAL_TITLE_CHARS, _USUAL_POLE_CHARS))
    return Item(f"to-be-found-{place}", title, pole, pole, "generated", round=round_)


def _times(plan: Plan, n: int) -> Plan:
    """The plan of so many rounds like this one."""
    counts: dict[str, Any] = {
        name: n * getattr(plan, name) for name in ("n_in_scope", "n_stored", "n_to_ask", "tokens_in", "tokens_out")
    }
    return replace(plan, **counts, cost_usd=None if plan.cost_usd is None else n * plan.cost_usd)
