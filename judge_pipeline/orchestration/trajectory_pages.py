"""Pages of trajectories below ``<out>/reports/<contest>/trajectories/``, made from what is stored.

They lie in the folder of the contest's report, which a withdrawal removes as a whole.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.contest_folders import contest_folder
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.tables import ATTEMPTS, JUDGE_COVERAGE, PREDICTIONS, PROMPT_LOGS, STRUGGLE_CURVES, TRAJECTORIES

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.report.trajectory_page import TrajectoryLink, Turn
    from judge_pipeline.settings.contest import ContestSettings

_KEYS = ["participant", "problem_id"]


class NoSuchTrajectoryError(LookupError):
    """A trajectory that the contest does not have."""


def pages_dir(workspace: Workspace, contest: str) -> Path:
    """Where a contest's pages lie."""
    return workspace.store_dir / "reports" / contest / "trajectories"


def write_pages(
    workspace: Workspace,
    contest: str,
    code_version: str,
    only: tuple[str, str] | None = None,
    limit: int | None = None,
) -> list[Path]:
    """Write the pages, and the list of all that there are.

    Args:
        workspace: the workspace.
        contest: a contest that was run.
        code_version: for the foot of the page.
        only: (participant, problem) of the one page to write; the others stay. None writes all up to ``limit`` and
            removes those that are not among them.
        limit: how many at most; of more trajectories, those that the contest's seed draws. None: all.

    Returns:
        The pages that were written.

    Raises:
        NoSuchTrajectoryError: ``only`` names no trajectory.
        FileNotFoundError: the contest was never run.
    """
    from judge_pipeline.report.trajectory_page import page_name, trajectory_index, trajectory_page

    store, folder = store_of(workspace), pages_dir(workspace, contest)
    trajectories, attempts = store.read(TRAJECTORIES, contest), store.read(ATTEMPTS, contest)
    settings = workspace.contest(contest_folder(workspace, contest))
    chosen = chosen_trajectories(trajectories, settings.seed, limit) if only is None else [only]
    keys = dict.fromkeys(zip(trajectories["participant"], trajectories["problem_id"], strict=True))
    if only is not None and only not in keys:
        raise NoSuchTrajectoryError(
            f"{contest} has no trajectory of participant {only[0]!r} on problem {only[1]!r}; the table trajectories "
            "names them all"
        )
    turns_of = _Turns(workspace, contest, settings, attempts)
    written = []
    for participant, problem in chosen:
        turns = turns_of(participant, problem)
        html = trajectory_page(contest, participant, problem, turns, code_version)
        written.append(write_whole(folder / page_name(contest, participant, problem), html.encode("utf-8", "replace")))
    names = {page_name(contest, *key): key for key in keys}
    kept = {path.name for path in written} if only is None else set(names)
    for file in folder.glob("*.html"):
        if file.name not in kept and file.name != "index.html":
            file.unlink()
    index = trajectory_index(contest, _links(trajectories, contest, folder), len(trajectories), code_version)
    write_whole(folder / "index.html", index.encode("utf-8", "replace"))
    return written


def chosen_trajectories(trajectories: pd.DataFrame, seed: int, limit: int | None) -> list[tuple[str, str]]:
    """All trajectories, or as many as the limit, drawn by seed and name: the same ones however many others there are.

    Args:
        trajectories: table TRAJECTORIES.
        seed: the contest's seed.
        limit: how many at most; None: all.
    """
    keys = [(str(u), str(p)) for u, p in zip(trajectories["participant"], trajectories["problem_id"], strict=True)]
    if limit is None or len(keys) <= limit:
        return keys

    def drawn(key: tuple[str, str]) -> str:
        return hashlib.sha256(f"{seed}\0{key[0]}\0{key[1]}".encode("utf-8", "replace")).hexdigest()

    wanted = set(sorted(keys, key=drawn)[:limit])
    return [key for key in keys if key in wanted]


class _Turns:
    """The turns of any trajectory of a contest; its tables are read once."""

    def __init__(self, workspace: Workspace, contest: str, settings: ContestSettings, attempts: pd.DataFrame) -> None:
        from judge_pipeline.cocreation.prompt_windows import prompt_texts
        from judge_pipeline.cocreation.redacted import redactor_of

        store = store_of(workspace)
        # Over the whole contest: which problem a prompt mentions depends on the names of all of them.
        prompts = prompt_texts(
            attempts,
            store.read(PROMPT_LOGS, contest),
            problem_names=settings.problem_names,
            mentions=settings.revision.mentions,
        )
        self._attempts = attempts.groupby(_KEYS, sort=False)
        predictions = _labelled(store.read(PREDICTIONS, contest), store.read(JUDGE_COVERAGE, contest))
        tables = (predictions, store.read(STRUGGLE_CURVES, contest))
        self._predictions, self._struggle, self._prompts = (
            table.set_index("attempt_id") for table in (*tables, prompts)
        )
        redaction = settings.redaction
        key = key_environment().get(redaction.key_env, "").encode() or None
        self._redactor = redactor_of(redaction, contest, sorted(attempts["participant"].unique()), key)

    def __call__(self, participant: str, problem: str) -> list[Turn]:
        from judge_pipeline.report.trajectory_page import trajectory_turns

        attempts = self._attempts.get_group((participant, problem))
        predictions, struggle, prompts = (
            table.loc[table.index.isin(attempts["attempt_id"])].reset_index()
            for table in (self._predictions, self._struggle, self._prompts)
        )
        return trajectory_turns(
            attempts,
            predictions,
            struggle,
            prompts,
            lambda source: self._redactor.source(source).text,
            lambda words: self._redactor.prompts(words).text,
        )


def _labelled(predictions: pd.DataFrame, coverage: pd.DataFrame) -> pd.DataFrame:
    """The predictions, every judge called by its label, so that none is shown without its tags."""
    from judge_pipeline.report.inputs import judge_kinds

    labels = {judge: kind.label for judge, kind in judge_kinds(coverage).items()}
    return predictions.assign(judge=predictions["judge"].map(lambda judge: labels.get(judge, judge)))


def _links(trajectories: pd.DataFrame, contest: str, folder: Path) -> list[TrajectoryLink]:
    """The pages that there are, in the order of the table."""
    from judge_pipeline.report.trajectory_page import TrajectoryLink, page_name

    there = {file.name for file in folder.glob("*.html")}
    links = []
    for row in trajectories.to_dict("records"):
        name = page_name(contest, row["participant"], row["problem_id"])
        if name in there:
            outcome = f"solved at turn {row['first_ac_turn']}" if row["solved"] else "not solved"
            links.append(TrajectoryLink(name, row["participant"], row["problem_id"], int(row["n_turns"]), outcome))
    return links
