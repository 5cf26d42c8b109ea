"""Makes the tables of an unpacked bundle anew, in a folder of their own, with nobody to ask."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.bundles.facts import ANSWERS, OUT, BundleFacts, workspace_in
from judge_pipeline.orchestration.bundles.recipe import Jobs, Step, not_recomputed, steps_of
from judge_pipeline.orchestration.bundles.secret_search import key_variables
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.tombstones import Tombstone, Tombstones
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PREFERENCE_SPLITS, SPLIT_ASSIGNMENTS

if TYPE_CHECKING:
    import dagster as dg
    import pandas as pd

    from judge_pipeline.judging.re_reading import ReRead

_NOT_A_KEY = "not-a-key-nothing-is-asked"
_OF_THIS_MACHINE = ("JUDGE_PIPELINE_", "OPENLINEAGE_")
"""Variables of whoever verifies: stores, brokers, keys, executors. A bundle has nothing to do with any of them."""


@dataclass(frozen=True)
class AnswersRead:
    """What came of reading the raw answers of calls again, strictly, as they were read when they came.

    Attributes:
        n_judgments: judgments in the bundle.
        n_read: of those, the ones that tables made anew were made from. The others answer what is asked no more, or
            stand in a table that was taken as it is.
        differing: which judgments are not what their raw answers say, and how, in the order of judge and row.
    """

    n_judgments: int = 0
    n_read: int = 0
    differing: tuple[str, ...] = ()

    @classmethod
    def of(cls, n_judgments: int, found: Iterable[ReRead]) -> AnswersRead:
        """Of what was read; a judgment that several tables are made from counts once."""
        by_key = {(one.judge, one.attempt_id, one.request_hash): one for one in found}
        differing = [
            f"{judge}, {row} (request {hash_[:12]}): {one.differs}"
            for (judge, row, hash_), one in sorted(by_key.items())
            if one.differs is not None
        ]
        return cls(n_judgments, len(by_key), tuple(differing))


@dataclass(frozen=True)
class Recomputed:
    """What came of making the tables anew.

    Attributes:
        workspace: where they lie.
        given: files of the bundle (``table/partition``) that were taken as they are -> why.
        errors: what could not be made -> why: a job, or a job and its judge.
        answers: the judgments held against the raw answers of their calls.
    """

    workspace: Workspace
    given: Mapping[str, str]
    errors: Mapping[str, str] = field(default_factory=dict)
    answers: AnswersRead = field(default_factory=AnswersRead)


DefinitionsOf = Callable[[Workspace], "dg.Definitions"]
"""The graph of a workspace (``definitions.build_definitions``)."""


def recompute(
    bundle: Path, out: Path, facts: BundleFacts, definitions_of: DefinitionsOf, jobs: Jobs, say: Callable[[str], None]
) -> Recomputed:
    """Make every table anew that can be made from what is in the bundle.

    Args:
        bundle: the unpacked bundle.
        out: an empty folder to write into.
        facts: what the bundle says of itself.
        definitions_of: makes the graph.
        jobs: the names of its jobs.
        say: told the jobs as they begin.

    Raises:
        JudgingError: the answers in the bundle cannot be read.
        SettingsError: its configuration is wrong.
    """
    from judge_pipeline.judging.re_reading import re_reading
    from judge_pipeline.orchestration.instance import open_instance

    workspace = workspace_in(bundle, out)
    keys = key_variables(workspace.judges()).keys()
    with nobody_to_ask(keys, keys & set(facts.keys_set)):
        n_judgments = load_answers(bundle / ANSWERS, workspace.checkpoint_url)
        stored = workspace_in(bundle, bundle / OUT)
        given = not_recomputed(stored, facts)
        errors: dict[str, str] = {}
        _lay_out(bundle, workspace, facts, given)
        definitions = definitions_of(workspace)
        found: list[ReRead] = []
        with open_instance(workspace) as instance, re_reading(found.append):
            for step in steps_of(stored, facts, given, jobs):
                say(step.in_words())
                error = _run(definitions, instance, facts, step)
                if error is not None:
                    errors[step.in_words()] = error
    return Recomputed(workspace, given, errors, AnswersRead.of(n_judgments, found))


@contextmanager
def nobody_to_ask(keys: Collection[str], keys_set: Collection[str]) -> Iterator[None]:
    """The environment in which nothing is asked, and no store but the bundle's own is used.

    Args:
        keys: variables that keys are read from; they are unset.
        keys_set: those that were set where the bundle was made: that they were is told by the coverage table. They are
            given a value that is no key.
    """
    from judge_pipeline.judging.judging_context import ASK

    wanted = {ASK: "never"} | dict.fromkeys(keys_set, _NOT_A_KEY)
    gone = {*keys, *(name for name in os.environ if name.startswith(_OF_THIS_MACHINE))} - wanted.keys()
    before = {name: os.environ.get(name) for name in {*wanted, *gone}}
    for name in gone:
        os.environ.pop(name, None)
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def load_answers(folder: Path, url: str) -> int:
    """Write the bundle's answers into a checkpoint of their own; how many judgments there are.

    Raises:
        JudgingError: a line is none of theirs.
    """
    from judge_pipeline.judging.checkpoint.row_lines import TABLES, load_lines
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.checkpoint.tables import JUDGMENTS

    n_rows: dict[str, int] = {}
    with closing(Checkpoint(url)) as checkpoint:
        for name in TABLES:
            file = folder / f"{name}.jsonl"
            if file.is_file():
                with file.open(encoding="utf-8", newline="\n") as lines:
                    n_rows[name] = load_lines(checkpoint, name, (line.rstrip("\n") for line in lines))
    return n_rows.get(JUDGMENTS.name, 0)


def _lay_out(bundle: Path, workspace: Workspace, facts: BundleFacts, given: Mapping[str, str]) -> None:
    """What the jobs find before they begin: given tables, the ledger as it was, the folder, how many withdrew."""
    for file in given:
        source = bundle / OUT / "tables" / f"{file}.parquet"
        _copy(source, workspace.out_dir / "tables" / f"{file}.parquet")
    rubrics = bundle / OUT / "rubrics"
    for edited in sorted(rubrics.iterdir()) if rubrics.is_dir() else ():
        _copy(edited, workspace.out_dir / "rubrics" / edited.name)
    _lay_ledger(bundle, workspace, facts)
    (bundle / facts.data_folder).mkdir(parents=True, exist_ok=True)  # a redacted one may have no file in it
    stones = Tombstones(workspace.out_dir, facts.name)
    for number in range(int(facts.extra.get("n_withdrawn", 0))):
        # Nobody's names: it is told how many withdrew, and who they were is not in the bundle.
        stones.write(Tombstone(stones.hash_of(f"\0withdrawn {number}"), "unknown", True, {}))


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _lay_ledger(bundle: Path, workspace: Workspace, facts: BundleFacts) -> None:
    """The bundle's splits ledger, as the run that made the bundle's splits has left it or found it."""
    is_contest = facts.kind == "contest"
    of = SplitsLedger.of_contest if is_contest else SplitsLedger.of_preference_set
    ledger = of(bundle / OUT, facts.name).read()
    if ledger is None:
        return
    table = SPLIT_ASSIGNMENTS if is_contest else PREFERENCE_SPLITS
    keys = ["participant", "problem_id"] if is_contest else ["instruction_group"]
    store = store_of(workspace_in(bundle, bundle / OUT))
    if store.path(table, facts.name).is_file():
        ledger = ledger_before(ledger, store.read(table, facts.name), keys)
    if len(ledger):
        of(workspace.out_dir, facts.name).write(ledger)


def ledger_before(ledger: pd.DataFrame, splits: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """A ledger with which the same splits come out.

    One that says what decided each split is so itself. Of one of an earlier version, which does not, rows are left out
    that the splits do not have from it: the run that made them added those.
    """
    import pandas as pd

    added = splits.loc[splits["assigned_by"] != "ledger", list(keys)]
    is_added = pd.MultiIndex.from_frame(ledger[list(keys)]).isin(pd.MultiIndex.from_frame(added))
    return ledger[~is_added | (ledger["assigned_by"] != "ledger")].reset_index(drop=True)


def _run(definitions: Any, instance: dg.DagsterInstance, facts: BundleFacts, step: Step) -> str | None:
    from judge_pipeline.orchestration.runs import run_job

    only = None
    if step.without:
        keys = definitions.resolve_job_def(step.job).asset_layer.selected_asset_keys
        only = {key.to_user_string() for key in keys} - step.without
    outcome = run_job(definitions, instance, step.job, facts.name, step.judge, step.tags, of=facts.kind, only=only)
    return outcome.error
