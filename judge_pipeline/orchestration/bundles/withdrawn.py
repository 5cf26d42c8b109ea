"""What of raw files may not go out, since somebody has withdrawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from judge_pipeline.ingest.contest_folder import participant_and_problem_of
from judge_pipeline.orchestration.bundles.facts import Kind
from judge_pipeline.orchestration.tombstones import Tombstones
from judge_pipeline.settings import RecordedJudge, Workspace
from judge_pipeline.settings.yaml_file import SettingsError

_MIXED = "raw files hold lines of somebody who has withdrawn beside others', and were left out"


@dataclass(frozen=True)
class Withheld:
    """What is left out for those who have withdrawn.

    Attributes:
        may_go_out: path of a raw file, relative to the folder -> whether it may go out.
        why: tables that cannot be made again without what is left out -> why.
        n_withdrawn: how many have withdrawn.
        n_files: raw files that were read and are left out.
    """

    may_go_out: Callable[[str], bool] = lambda path: True
    why: Mapping[str, str] = field(default_factory=dict)
    n_withdrawn: int = 0
    n_files: int = 0


def withheld_for_the_withdrawn(workspace: Workspace, kind: Kind, name: str, folder: Path) -> Withheld:
    """What is left out of a bundle.

    Of a contest, the files of the person's own folders, and every file that names them as whose a row is. Where such a
    file holds others' rows, too, no submission, prompt log or recorded answer goes out: the tables made from them do.
    Of a preference set, no raw file goes out. What others wrote of a person is not looked for: nobody's name is kept.

    Raises:
        SettingsError: a withdrawal is not complete, tombstones cannot be read, or settings name who has withdrawn.
    """
    store = workspace.store_dir
    stones = Tombstones(store, name) if kind == "contest" else Tombstones.of_preference_set(store, name)
    found = stones.read()
    if not found:
        return Withheld()
    if not all(stone.complete for stone in found):
        raise SettingsError(
            f"a withdrawal from {name} was cut off, and the person is still in its tables: complete it by the same "
            "'judge-pipeline forget' command, run again, then bundle"
        )
    if kind == "preference_set":
        own = {"preference.yaml", "rubric.yaml"}
        return Withheld(lambda path: path in own, {"preference_pairs": _MIXED, "pair_texts": _MIXED}, len(found))
    hashes = {stone.participant for stone in found}

    def has_withdrawn(who: str) -> bool:
        return stones.is_one_of(who, hashes)

    settings = workspace.contest(folder)
    named = {*settings.participant_names, *settings.participant_names.values(), *settings.dynamics.participant_groups}
    if any(map(has_withdrawn, named)):
        raise SettingsError(
            f"participant_names or dynamics.participant_groups of {folder / 'contest.yaml'} (or contests.yaml) still "
            "names somebody who has withdrawn: take them out, then bundle"
        )
    return _of_contest(workspace, name, folder, has_withdrawn, len(found))


def _of_contest(
    workspace: Workspace, name: str, folder: Path, has_withdrawn: Callable[[str], bool], n: int
) -> Withheld:
    from judge_pipeline.ingest.contest import read_contest
    from judge_pipeline.ingest.reading_cache import cache_file
    from judge_pipeline.ingest.withdrawal import leave_out

    read = read_contest(folder, name, workspace.contest(folder), cache=cache_file(workspace.out_dir, name))
    rest, dropped = leave_out(read, name, has_withdrawn)
    kept = {
        str(path) for table in (rest.submission_artifacts, rest.prompt_logs, rest.quarantine) for path in table["path"]
    }
    gone = set(dropped)

    def theirs(path: str) -> bool:
        who = participant_and_problem_of(path)[0]
        return path in gone or (who is not None and has_withdrawn(who))

    unread = _recorded_with_others(workspace, folder, set(rest.attempts["attempt_id"]))
    if not gone & kept:
        return Withheld(lambda path: not theirs(path) and path not in unread, {}, n, len(gone))
    kinds = ("submissions/", "prompts/")
    may_go_out = lambda path: not path.startswith(kinds) and path not in unread  # noqa: E731
    return Withheld(may_go_out, {"attempts": _MIXED}, n, len(gone | kept))


def _recorded_with_others(workspace: Workspace, folder: Path, attempt_ids: set[str]) -> set[str]:
    """Files of recorded answers with a line of another attempt than these: it may be of somebody who has withdrawn."""
    from judge_pipeline.judging.backends.recorded_backend import read_recorded
    from judge_pipeline.judging.failures import JudgingError

    judges = workspace.judges()
    found = set()
    for judge in map(judges.get, judges.names("cocreation")):
        if isinstance(judge, RecordedJudge) and (folder / judge.file).is_file():
            try:
                read = read_recorded(judge, folder)
                has_others = not {*read.answers, *read.failures} <= attempt_ids
            except JudgingError:
                has_others = True
            found |= {Path(judge.file).as_posix()} if has_others else set()
    return found
