"""Criteria by which the responses of a pair are compared, generated for that pair (CriterAlign, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_pipeline.criteria.questions import GENERATION, ID, ShownCriterion, generation_rows
from judge_pipeline.criteria.replies import Reply, replies
from judge_pipeline.tables.criteria import CRITERIA

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration


@dataclass(frozen=True)
class Generated:
    """What generation came to.

    Attributes:
        criteria: table CRITERIA. A pair without a row has no criteria: its answer stayed invalid.
        failures: pair_id -> the reply of a pair whose answer stayed invalid.
        n_duplicates: criteria left out, over all pairs, since an earlier one of the pair has the same words.
    """

    criteria: pd.DataFrame
    failures: Mapping[str, Reply]
    n_duplicates: int


def generated_criteria(configuration: Configuration, pairs: PairsToJudge, ask: Ask) -> Generated:
    """One call a pair: criteria from instruction, both responses and evidence, y_A shown first.

    Ids are ours: c1, c2, ... in the order of the answer. A criterion with the words of an earlier one is left out.

    Args:
        configuration: its ``max_criteria`` and ``prompts`` decide.
        pairs: the pairs, with guidance of the stage ``generator`` where there is any.
        ask: who answers.
    """
    rows = generation_rows(pairs, configuration.max_criteria, configuration.prompts)
    return read_criteria(rows, replies(ask, "generation", GENERATION, rows))


def read_criteria(rows: pd.DataFrame, answered: Mapping[str, Reply]) -> Generated:
    """The criteria in answers with a list ``criteria`` of ``text``, ``aspect`` and, where given, ``weight``.

    Args:
        rows: what was asked, a row a pair, with columns request_id and pair_id.
        answered: request_id -> reply.
    """
    made: list[dict[str, Any]] = []
    failures: dict[str, Reply] = {}
    n_duplicates = 0
    for request_id, pair_id in rows[[ID, "pair_id"]].itertuples(index=False, name=None) if len(rows) else ():
        reply = answered[request_id]
        if reply.answer is None:
            failures[pair_id] = reply
            continue
        different = {same_words(each["text"]): each for each in reversed(reply.answer["criteria"])}
        kept = [each for each in reply.answer["criteria"] if different[same_words(each["text"])] is each]
        n_duplicates += len(reply.answer["criteria"]) - len(kept)
        made += [
            {
                "pair_id": pair_id, "criterion": f"c{place}", "text": each["text"], "aspect": each["aspect"],
                "weight": each.get("weight"), "request_hash": reply.request_hash,
            }
            for place, each in enumerate(kept, start=1)
        ]  # fmt: skip
    return Generated(CRITERIA.conform(made), failures, n_duplicates)


def same_words(text: str) -> str:
    """What two criteria have in common that say the same in the same words: no case, white space or final stop."""
    return " ".join(text.casefold().split()).rstrip(".!;: ")


def shown_criteria(criteria: pd.DataFrame) -> dict[str, list[ShownCriterion]]:
    """pair_id -> its criteria as stages are handed them.

    Args:
        criteria: columns pair_id, criterion, text, aspect, as in CRITERIA and REFINED_CRITERIA.
    """
    shown: dict[str, list[ShownCriterion]] = {}
    columns = criteria[["pair_id", "criterion", "text", "aspect"]].itertuples(index=False, name=None)
    for pair_id, *values in columns:
        shown.setdefault(pair_id, []).append(ShownCriterion(*values))
    return shown
