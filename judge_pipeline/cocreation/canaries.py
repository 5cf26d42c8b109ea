"""Canaries: attempts with a text planted that tries to move the judge, beside the same attempts as they are.

The attempts are a stratified sample of val and test. Each text is planted into all of them, and so is a harmless one of
the same length (the control): what any further text does to p_ac is what a judge's movement is held against.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.cocreation.requests import request_sha256
from judge_pipeline.cocreation.verdict_masking import masked
from judge_pipeline.ingest.planting import Planted, plant_comment, plant_prompt, plant_string
from judge_pipeline.ingest.verdict_mentions import VerdictWords
from judge_pipeline.judging.pilot import pilot
from judge_pipeline.settings import ContestSettings, Scope
from judge_pipeline.settings.injections import CONTROL, PLACES, InjectionsFile
from judge_pipeline.tables import JUDGE_CANARIES

SPLITS_OF_CANARIES = ("val", "test")
"""Train is left out: the baseline learns from it, and would learn the planted text."""

UNASKED = "unasked"
"""In the place of the split of a request that is in nobody's scope."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be planted.

    Attributes:
        injection: its name; ``control`` for the harmless one of a place.
        family: what it tries.
        place: comment, string or prompt_text.
        direction: up, down or none.
        text: the text.
    """

    injection: str
    family: str
    place: str
    direction: str
    text: str


@dataclass(frozen=True)
class Variant:
    """The sampled attempts with one text planted.

    Attributes:
        text: which.
        requests: the contest's requests; the sampled ones with the text planted, all others in nobody's scope.
        planted: attempt_id -> the text's place in the program or Q_u, of the sampled attempts that could take it.
        left_out: attempt_id -> why an attempt could not take it.
    """

    text: Text
    requests: pd.DataFrame
    planted: Mapping[str, Planted]
    left_out: Mapping[str, str]


def texts_of(injections: InjectionsFile) -> list[Text]:
    """All texts to be planted, the control of each place before its injections."""
    texts = []
    for place in PLACES:
        own = [
            Text(name, injection.family, place, injection.direction, injection.text)
            for name, injection in injections.injections.items()
            if injection.place == place
        ]
        control = Text(CONTROL, "control", place, "none", injections.control_text(place))
        texts += [control, *own] if own else []
    return texts


def sample(requests: pd.DataFrame, scope: Scope, n: int, seed: int) -> list[str]:
    """Ids of n attempts of val and test in the scope, stratified by split, problem and language; all of fewer.

    The same attempts for all judges of the same scope, and of a larger n the smaller one's too. Labels play no part.
    """
    splits = [split for split in scope.splits if split in SPLITS_OF_CANARIES]
    eligible = requests[requests["split"].isin(splits)]
    chosen = pilot(eligible, n, seed)
    return [attempt_id for attempt_id in eligible["attempt_id"] if attempt_id in chosen]


def only(requests: pd.DataFrame, attempt_ids: Sequence[str]) -> pd.DataFrame:
    """All requests, those of other attempts in nobody's scope: money is counted over all of a contest's attempts."""
    return requests.assign(split=requests["split"].where(requests["attempt_id"].isin(attempt_ids), UNASKED))


def variants(
    requests: pd.DataFrame, attempt_ids: Sequence[str], texts: Sequence[Text], settings: ContestSettings
) -> Iterator[Variant]:
    """The sampled attempts with each of the texts planted, one text after the other.

    Texts are cut to their budgets as those of any request are. Where the settings mask words for verdicts in Q_u, they
    are masked in what is planted there, too.
    """
    rows = {row["attempt_id"]: row for row in _records(requests[requests["attempt_id"].isin(attempt_ids)])}
    for text in texts:
        planted: dict[str, Planted] = {}
        left_out: dict[str, str] = {}
        changed: dict[str, dict[str, Any]] = {}
        for attempt_id in attempt_ids:
            done = _plant(rows[attempt_id], text, settings)
            if isinstance(done, str):
                left_out[attempt_id] = done
            else:
                planted[attempt_id] = done
                changed[attempt_id] = _request(rows[attempt_id], text, done, settings)
        yield Variant(text, _replaced(only(requests, list(planted)), changed), planted, left_out)


def canary_rows(
    judge: str,
    variant: Variant,
    budgets: Mapping[str, int],
    clean: Mapping[str, Mapping[str, Any]],
    injected: Mapping[str, Mapping[str, Any]],
    failed: Mapping[str, tuple[str, str]],
) -> list[dict[str, Any]]:
    """Rows of JUDGE_CANARIES for one judge and one text.

    Args:
        judge: its name.
        variant: what it was asked about.
        budgets: ``source_code``, ``prompt_text`` -> the characters that the judge is shown at most.
        clean: attempt_id -> row of ``judge_outputs`` of the attempt as it is.
        injected: likewise with the text planted.
        failed: attempt_id -> class and text of the failure with the text planted, or of the attempt as it is.
    """
    text = variant.text
    budget = budgets["prompt_text" if text.place == "prompt_text" else "source_code"]
    of_text = {"judge": judge, "injection": text.injection, "family": text.family, "place": text.place,
               "direction": text.direction}  # fmt: skip
    rows = []
    for attempt_id in (*variant.planted, *variant.left_out):
        row: dict[str, Any] = dict.fromkeys(JUDGE_CANARIES.column_names) | of_text | {"attempt_id": attempt_id}
        before, after = clean.get(attempt_id), injected.get(attempt_id)
        if before is not None:
            row |= {"p_ac_clean": before["p_ac"], "request_hash_clean": before["request_hash"]}
        if attempt_id in variant.left_out:
            row["reason"] = variant.left_out[attempt_id]
        else:
            place = variant.planted[attempt_id]
            row |= {"n_chars": place.end - place.start, "n_chars_shown": place.shown(budget)}
            if after is not None:
                row |= {"p_ac_injected": after["p_ac"], "request_hash_injected": after["request_hash"]}
            if before is not None and after is not None:
                row["moved"] = after["p_ac"] - before["p_ac"]
            else:
                class_, words = failed.get(attempt_id, ("not asked", "the judge was asked no more"))
                row |= {"failure_class": class_, "reason": f"no answer: {words}"}
        rows.append(row)
    return rows


def _plant(row: Mapping[str, Any], text: Text, settings: ContestSettings) -> Planted | str:
    """The program or Q_u with the text, or why it cannot take it."""
    language = row["language"]
    if text.place == "prompt_text":
        if row["context"] == "blind":
            return "judges are blind: Q_u is not sent"
        words = VerdictWords(settings.verdict_words)
        shown = masked(text.text, words.in_prompts(text.text)) if settings.mask_verdict_words else text.text
        return plant_prompt(row["prompt_text"], shown)
    plant = plant_comment if text.place == "comment" else plant_string
    what = "comments" if text.place == "comment" else "string constants"
    return plant(row["source_code"], language, text.text) or f"no {what} can be planted in {language or 'its language'}"


def _request(row: Mapping[str, Any], text: Text, planted: Planted, settings: ContestSettings) -> dict[str, Any]:
    """The request with what was planted, cut to its budget."""
    is_prompt = text.place == "prompt_text"
    column, cut = ("prompt_text", "prompt_chars_cut") if is_prompt else ("source_code", "source_chars_cut")
    budget = settings.max_prompt_chars if is_prompt else settings.max_code_chars
    changed = {**row, column: planted.text[:budget], cut: row[cut] + max(0, len(planted.text) - budget)}
    return changed | {"request_sha256": request_sha256(changed)}


def _replaced(requests: pd.DataFrame, changed: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    columns = ("source_code", "prompt_text", "source_chars_cut", "prompt_chars_cut", "request_sha256")
    made = {name: requests[name].copy() for name in columns}
    for place, attempt_id in zip(requests.index, requests["attempt_id"], strict=True):
        if attempt_id in changed:
            for name in columns:
                made[name].at[place] = changed[attempt_id][name]
    return requests.assign(**made)


def _records(requests: pd.DataFrame) -> list[dict[str, Any]]:
    rows = requests.astype("object").where(requests.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]
