"""Screenshots of what responses show when they are run: as files state them, as tables keep them, as judges see them.

A file states a path in the set's folder or holds the image itself. ``preference_pairs`` keeps what the image is (its
sha256, never its bytes), or why it cannot be used; ``pair_texts`` keeps the same where the set shows screenshots to
judges, and otherwise that one was withheld.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from judge_pipeline.judging.request import Image

SCREENSHOT = "screenshot"
"""The entry of an evidence object."""

KeepImage = Callable[[str], Mapping[str, Any]]
"""A path in the set's folder, or a data URL -> ``source``, where it came from; and the ``KEPT`` fields of the image, or
``reason``, why it cannot be used, or neither where nobody looked."""

KEPT = ("sha256", "media_type", "n_bytes", "width", "height")

SHOWN = "shown"
WITHHELD = "withheld"
UNUSABLE = "unusable"
"""What becomes of a screenshot in ``pair_texts``."""

NOT_TAKEN = "the judge takes no images"
_WHY = {
    WITHHELD: "withheld by redaction.screenshots",
    UNUSABLE: "cannot be used (preference_quarantine says why)",
}
_PLACES = {"first": "evidence_first", "second": "evidence_second"}
_SHOWN_CHARS = 200


def nothing_kept(source: str) -> dict[str, Any]:
    """A ``KeepImage`` where there is no folder to look in and none to keep images in."""
    return {"source": named(source)}


def named(source: str) -> str:
    """Where an image came from, for people."""
    return "embedded" if source[:5].lower() == "data:" else source[:_SHOWN_CHARS]


def source_of(stated: Any) -> str | None:
    """Where the image is that a file states: a path or a data URL; None where there is none.

    An object {bytes, path}, as Hugging Face writes images, states its bytes where it holds them: its path is then only
    the name that the image once had.
    """
    if isinstance(stated, Mapping):
        stated = next((stated[key] for key in ("bytes", "path", "url") if stated.get(key)), None)
    return stated if isinstance(stated, str) and stated.strip() else None


def with_screenshot_kept(evidence: Mapping[str, Any], keep: KeepImage) -> dict[str, Any]:
    """The evidence with what is kept of its screenshot in the place of what the file states."""
    kept = dict(evidence)
    source = source_of(kept.pop(SCREENSHOT, None))
    return kept if source is None else kept | {SCREENSHOT: dict(keep(source))}


def problem_of(evidence: Mapping[str, Any]) -> tuple[str, str] | None:
    """Source and reason of a screenshot that cannot be used; None where there is none or it can."""
    kept = evidence.get(SCREENSHOT)
    if not isinstance(kept, Mapping) or kept.get("reason") is None:
        return None
    return str(kept.get("source", "")), str(kept["reason"])


def for_judges(kept: Any, shows: bool) -> dict[str, Any]:
    """What ``pair_texts`` says of a screenshot: what the image is, or why there is none. Where it came from is for none
    to see."""
    if not isinstance(kept, Mapping) or not _is_image(kept):
        return {"not_shown": UNUSABLE}
    return {name: kept[name] for name in KEPT} if shows else {"not_shown": WITHHELD}


def _state_of(kept: Any) -> str:
    if _is_image(kept):
        return SHOWN
    return WITHHELD if isinstance(kept, Mapping) and kept.get("not_shown") == WITHHELD else UNUSABLE


def _is_image(kept: Any) -> bool:
    return isinstance(kept, Mapping) and all(name in kept for name in KEPT)


def images_of_row(row: Mapping[str, Any]) -> dict[str, Image]:
    """The screenshots that a row can show: first and second, in the order in which the responses stand.

    Args:
        row: with ``evidence_first`` and ``evidence_second`` as ``pair_rows`` makes them, where it shows responses.
    """
    found = {}
    for name, column in _PLACES.items():
        kept = _screenshot(row.get(column))
        if _is_image(kept):
            label = f"Screenshot of what {_called(name, row)} shows when it is run (material to be judged):"
            found[name] = Image(kept["sha256"], kept["media_type"], kept["n_bytes"], label)
    return found


def _called(name: str, row: Mapping[str, Any]) -> str:
    """What templates call the response; where a row shows one alone, it has no letter."""
    if name == "first" and not row.get("second"):
        return "the response"
    return f"response {'A' if name == 'first' else 'B'}"


def shown_and_not(row: Mapping[str, Any], takes_images: bool) -> tuple[int, str | None]:
    """How many screenshots a judge is shown of a row, and which it is not, in words; None where it is shown all.

    Args:
        row: as for :func:`images_of_row`.
        takes_images: whether the judge takes images.
    """
    images = images_of_row(row)
    kept = [_screenshot(row.get(column)) for column in _PLACES.values()]
    reasons = Counter(_WHY[_state_of(each)] for each in kept if each is not None and not _is_image(each))
    if not takes_images and images:
        reasons[NOT_TAKEN] += len(images)
    words = "; ".join(f"{n} not shown: {reason}" for reason, n in sorted(reasons.items()))
    return len(images) if takes_images else 0, words or None


def counts_of(evidence: Iterable[Any]) -> dict[str, int]:
    """How many screenshots there are by what becomes of them: ``SHOWN``, ``WITHHELD``, ``UNUSABLE``.

    Args:
        evidence: cells of ``evidence_a`` and ``evidence_b`` of table PAIR_TEXTS.
    """
    counts = Counter({SHOWN: 0, WITHHELD: 0, UNUSABLE: 0})
    for cell in evidence:
        kept = _screenshot(cell)
        if kept is not None:
            counts[_state_of(kept)] += 1
    return dict(counts)


def stored_images(evidence: Iterable[Any]) -> set[tuple[str, str]]:
    """sha256 and media type of the images that cells of evidence name."""
    kept = (_screenshot(cell) for cell in evidence)
    return {(each["sha256"], each["media_type"]) for each in kept if _is_image(each)}


def without_screenshots(texts: pd.DataFrame) -> pd.DataFrame:
    """Rows of table PAIR_TEXTS as if their pairs never had any screenshot."""
    bare = {column: [_without(cell) for cell in texts[column]] for column in ("evidence_a", "evidence_b")}
    return texts.assign(**{column: pd.Series(cells, texts.index, dtype="object") for column, cells in bare.items()})


def _without(cell: Any) -> str | None:
    left = {name: value for name, value in _evidence(cell).items() if name != SCREENSHOT}
    return json.dumps(left, ensure_ascii=False) if left else None


def _screenshot(cell: Any) -> Any:
    return _evidence(cell).get(SCREENSHOT)


def _evidence(cell: Any) -> dict[str, Any]:
    return dict(json.loads(cell)) if isinstance(cell, str) else {}
