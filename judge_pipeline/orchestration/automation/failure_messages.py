"""What is said of runs that failed: a message as text and as JSON, from what is known of the run. Pure.

Texts of a failure may come from providers, files and people: they are shortened to one plain line, and marks that chats
read as addresses or links are made harmless.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

LONGEST_WORDS = 600
"""Characters of why a run failed; its page has the rest."""

_LONGEST_NAME = 120
_MOST_NAMED = 20
_MARKS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_CALLS_OR_LINKS = re.compile(r"(?<![\w.])@(?=\w)|(?<=\])(?=[(\[:])")
"""Where Mattermost and those like it would call people, or show a link or an image under other words."""

_NO_SIGN = "\u200b"

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

_COMMANDS = {
    "read_contest": "run", "judge_contest": "run", "report_contest": "run", "compare_contests": "leaderboard",
    "canary": "canary", "anchor": "anchor",
    "read_preference_set": "preference", "judge_preference_set": "preference",
    "find_rubric_of_preference_set": "preference", "report_preference_set": "preference",
    "compare_preference_sets": "preference", "write_preference_report": "preference",
    "make_guidance_for_judge": "criteria", "judge_by_criteria": "criteria", "report_criteria": "criteria",
}  # fmt: skip
"""Job -> the command that does the same, and what it left undone."""


@dataclass(frozen=True, slots=True)
class FailedRun:
    """What is known of a run that failed.

    Attributes:
        run_id: its id in Dagster.
        job: its job, or the assets that it was to make.
        partition: contest, preference set or judge, in words; None where it has none.
        step: the step that failed; None where it failed before one.
        failure_classes: how many judgments failed how; None where that is not why.
        words: why it failed, as the run says it.
        command: the command that does the same and asks only for the rest; None where there is none.
        url: the run's page, where it can be retried.
        follows: whether and when it is tried again by itself; None where nothing is known of that.
    """

    run_id: str
    job: str
    partition: str | None
    step: str | None
    failure_classes: str | None
    words: str
    command: str | None
    url: str | None
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message about one run that failed, or about several.

    Attributes:
        subject: one line.
        text: a few lines of plain text.
        runs: the runs that it tells of.
        event: what a webhook is told that it is.
    """

    subject: str
    text: str
    runs: tuple[FailedRun, ...]
    event: Literal["runs_failed", "batches_stuck", "test"] = "runs_failed"

    def as_json(self) -> dict[str, Any]:
        """What a webhook is sent: ``text`` as Slack and those like it show it, and each run's fields."""
        runs = [asdict(run) for run in self.runs]
        marked = _CALLS_OR_LINKS.sub(lambda found: found[0] + _NO_SIGN, self.text.translate(_MARKS))
        return {"text": marked, "mrkdwn": False, "unfurl_links": False, "event": self.event, "runs": runs}


def messages(runs: Sequence[FailedRun], most: int, *, with_words: bool = True) -> list[Message]:
    """A message for each run, oldest first; beyond ``most``, the last one names all that are left.

    Args:
        runs: the runs, in the order in which they failed.
        most: messages that may be sent, at least 1.
        with_words: whether to say why in words, which may name files and people.
    """
    told = [_plain(run, with_words=with_words) for run in runs]
    alone = told if len(told) <= most else told[: most - 1]
    left = tuple(told[len(alone) :])
    return [*map(_of_one, alone), *([_of_several(left)] if left else [])]


def trial_message(url: str | None) -> Message:
    """What ``judge-pipeline notify --test`` sends."""
    where = f"\nUI: {url}" if url else ""
    return Message("judge_pipeline: a test", f"judge_pipeline: a test message. Nothing has failed.{where}", (), "test")


def retry_command(job: str, dimensions: Mapping[str, str], folder: str | None) -> str | None:
    """The command that does what a job does and asks only for what is not stored; None where there is none.

    Args:
        job: the job's name; where it is none of ours (assets materialized one by one), the partition says what it was.
        dimensions: of the partition: contest or preference_set, judge.
        folder: folder of the contest or preference set; None where it is not known.
    """
    judge, _, configuration = dimensions.get("judge", "").partition("@")
    of_set = "criteria" if configuration else "preference"
    command = _COMMANDS.get(job) or ("run" if "contest" in dimensions else of_set if dimensions else None)
    if command is None:
        return None
    what = dimensions.get("contest") if command in ("canary", "anchor") else folder
    if command != "leaderboard" and what is None:
        return None
    said = ["judge-pipeline", command, *([what] if what and command != "leaderboard" else [])]
    return shlex.join([*said, *(["--judges", judge] if judge else [])])


def one_line(text: str, longest: int = LONGEST_WORDS) -> str:
    """Text without control characters and line breaks, cut at a length."""
    plain = " ".join(_UNSEEN.sub(" ", text).split())
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"


def _plain(run: FailedRun, *, with_words: bool) -> FailedRun:
    def named(text: str | None) -> str | None:
        return None if text is None else one_line(text, _LONGEST_NAME)

    words = one_line(run.words) if with_words else ""
    step, classes = named(run.step), None if run.failure_classes is None else one_line(run.failure_classes)
    return replace(
        run, job=named(run.job) or "", partition=named(run.partition), step=step, failure_classes=classes, words=words
    )


def _of_one(run: FailedRun) -> Message:
    lines = [
        f"judge_pipeline: {_name(run)} failed" + (f" in step {run.step}" if run.step else ""),
        f"Failures: {run.failure_classes}" if run.failure_classes else "",
        f"Why: {run.words}" if run.words else "",
        f"Tried again: {run.follows}" if run.follows else "",
        f"Retry in the UI: {run.url}" if run.url else "",
        f"Or: {run.command}" if run.command else "",
    ]
    return Message(f"judge_pipeline: {_name(run)} failed", "\n".join(filter(None, lines)), (run,))


def _of_several(runs: tuple[FailedRun, ...]) -> Message:
    named = [f"- {_name(run)}" + (f": {run.url}" if run.url else "") for run in runs[:_MOST_NAMED]]
    further = [f"- and {len(runs) - _MOST_NAMED} more"] if len(runs) > _MOST_NAMED else []
    subject = f"judge_pipeline: {len(runs)} {'run' if len(runs) == 1 else 'more runs'} failed"
    return Message(subject, "\n".join([subject, *named, *further]), runs)


def _name(run: FailedRun) -> str:
    return run.job + (f" ({run.partition})" if run.partition else "")
