"""Tables under pseudonyms, with texts as judges were sent them: what a redacted bundle is made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_pipeline.lineage.artifacts import WITHHELD

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.ingest.redaction import Redactor

_TEXTS_OF_PAIRS = (
    "instruction", "prior_turns", "prefix", "suffix", "code_to_edit", "response_a", "response_b", "evidence_a",
    "evidence_b",
)  # fmt: skip


@dataclass(frozen=True)
class ContestRoots:
    """The tables of a contest from which the others follow.

    Attributes:
        attempts: table ATTEMPTS.
        contexts: table PARTICIPANT_CONTEXTS.
        prompt_logs: table PROMPT_LOGS.
        quarantine: table INGEST_QUARANTINE.
        requests: table JUDGE_REQUESTS.
    """

    attempts: pd.DataFrame
    contexts: pd.DataFrame
    prompt_logs: pd.DataFrame
    quarantine: pd.DataFrame
    requests: pd.DataFrame


def redacted_roots(
    roots: ContestRoots, shown: ContestRoots, redactor: Redactor, alias: Mapping[str, str]
) -> ContestRoots:
    """The same without names.

    Args:
        roots: as they were read.
        shown: the same with ``attempts`` and ``contexts`` as judges are shown them (``cocreation.redacted``).
        redactor: what replaced personal data in these; it does so in prompt logs, too.
        alias: participant -> pseudonym.

    Returns:
        Rows in the order of the pseudonyms, which tells nothing of the names. Paths, the site's ids of submissions,
        times as printed and notes are withheld; instants stay, since turns rest on them.
    """
    attempts = shown.attempts.assign(
        participant=shown.attempts["participant"].map(alias),
        verdict_raw=shown.attempts["verdict_raw"].where(shown.attempts["verdict"] != "UNKNOWN"),
        path=WITHHELD,
        row=None,
        timestamp_raw=None,
        submission_id=None,
        notes=None,
    )
    logs = roots.prompt_logs
    named = logs["participant"].map(alias)
    logs = logs.assign(
        participant=named,
        path=[_log_path(path, who, redactor) for path, who in zip(logs["path"], named, strict=True)],
        conversation=[redactor.prompts(text).text for text in logs["conversation"]],
        text=[redactor.prompts(text).text for text in logs["text"]],
        notes=None,
    )
    aside = roots.quarantine.assign(place=None, reason=WITHHELD, remedy=WITHHELD)
    aside = aside.assign(path=[f"{WITHHELD} {number}" for number in range(1, len(aside) + 1)])
    return ContestRoots(
        _in_order(attempts, ["participant", "problem_id", "turn"]),
        _in_order(shown.contexts.assign(participant=shown.contexts["participant"].map(alias)), ["participant"]),
        _in_order(logs, ["path", "conversation", "order"]),
        aside,
        _in_order(roots.requests, ["attempt_id"]),
    )


def redacted_pairs(pairs: pd.DataFrame, texts: pd.DataFrame, alias: Callable[[str], str]) -> pd.DataFrame:
    """Table PREFERENCE_PAIRS with texts as judges are shown them, and annotators under pseudonyms.

    Args:
        pairs: as they were read.
        texts: table PAIR_TEXTS, a row for each pair.
        alias: annotator -> pseudonym.
    """
    shown = texts.set_index("pair_id").loc[pairs["pair_id"], list(_TEXTS_OF_PAIRS)].reset_index(drop=True)
    return pairs.reset_index(drop=True).assign(
        **{name: shown[name] for name in _TEXTS_OF_PAIRS},
        votes=[_voters(text, alias) for text in pairs["votes"]],
        source_file=WITHHELD,
        place=[f"{WITHHELD} {number}" for number in range(1, len(pairs) + 1)],
        notes=None,
    )


def redacted_raters(ratings: pd.DataFrame, alias: Callable[[str], str]) -> pd.DataFrame:
    """Table RERATINGS with raters under pseudonyms and without what they wrote beside."""
    return ratings.assign(rater=[alias(rater) for rater in ratings["rater"]], note=None)


def _voters(text: Any, alias: Callable[[str], str]) -> Any:
    if not isinstance(text, str):
        return text
    votes = {alias(voter): vote for voter, vote in json.loads(text).items()}
    return json.dumps(dict(sorted(votes.items())), ensure_ascii=False)


def _log_path(path: str, participant: str, redactor: Redactor) -> str:
    """The log under its participant's pseudonym: a problem in its name is told by it, so the rest stays."""
    parts = str(path).split("/")
    kept = parts[2:] if len(parts) > 2 else parts[-1:]
    return f"prompts/{participant}/{redactor.prompts('/'.join(kept)).text}"


def _in_order(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return table.sort_values(columns, kind="stable").reset_index(drop=True)
