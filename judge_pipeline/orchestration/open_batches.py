"""The batches of a workspace's judges: looked at, cancelled, and described, for the command line and the sensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.settings import LitellmJudge, Workspace
from judge_pipeline.settings.secrets_file import key_environment

if TYPE_CHECKING:
    from judge_pipeline.judging.batches.advancing import Seen
    from judge_pipeline.judging.batches.store import BatchRow, BatchStore

_Step = Callable[[str, LitellmJudge, Mapping[str, str], "BatchStore", Sequence["BatchRow"]], "list[Seen]"]


def has_checkpoint(workspace: Workspace) -> bool:
    """Whether there is a checkpoint: looking for batches must not make one."""
    from judge_pipeline.judging.checkpoint.opening import parsed_url

    url = parsed_url(workspace.checkpoint_url)
    return url.get_backend_name() != "sqlite" or Path(str(url.database)).is_file()


def batches_of(workspace: Workspace, contest: str | None = None, *, only_open: bool = True) -> list[BatchRow]:
    """The batches of a contest, or of all, as they were last seen; oldest first."""
    if not has_checkpoint(workspace):
        return []
    with _store(workspace) as store:
        return store.batches(contest=contest, only_open=only_open)


def look_at_batches(workspace: Workspace, contest: str | None = None) -> list[Seen]:
    """Ask the providers once after every open batch; collects nothing."""
    from judge_pipeline.judging.batches.advancing import look_at

    return _for_each_judge(workspace, batches_of(workspace, contest), look_at)


def cancel_batches(workspace: Workspace, rows: Sequence[BatchRow], on_wait: Callable[[], None]) -> list[Seen]:
    """Ask the providers to stop the batches; ``problem`` of each says what became of it.

    Args:
        workspace: the workspace.
        rows: open batches.
        on_wait: called once before waiting for a run that is asking one of the judges.
    """
    from judge_pipeline.judging.batches.advancing import cancel

    with ExitStack() as locks:
        for contest, judge in sorted({(row.contest, row.judge) for row in rows}):
            locks.enter_context(one_asking(workspace, contest, judge, on_wait))
        return _for_each_judge(workspace, rows, cancel)


def _for_each_judge(workspace: Workspace, rows: Sequence[BatchRow], step: _Step) -> list[Seen]:
    from judge_pipeline.judging.batches.advancing import Seen

    if not rows:
        return []
    listed = workspace.judges().judges
    seen: list[Seen] = []
    with _store(workspace) as store:
        for judge in dict.fromkeys(row.judge for row in rows):
            own = [row for row in rows if row.judge == judge]
            settings = listed.get(judge)
            if isinstance(settings, LitellmJudge):
                seen += step(judge, settings, key_environment(), store, own)
            else:
                words = f"{judge} is no longer a litellm judge in judges.yaml; put it back to collect the batch"
                seen += [Seen(row, words) for row in own]
    return seen


@contextmanager
def _store(workspace: Workspace) -> Iterator[BatchStore]:
    from judge_pipeline.judging.batches.store import BatchStore
    from judge_pipeline.judging.checkpoint.store import Checkpoint

    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        yield BatchStore(checkpoint)
