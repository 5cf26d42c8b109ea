"""Themes that rubric items of several sets share, their software-engineering criteria, and where judges differ.

An item's theme is what themes.yaml says of it, else what its rubric states, else the theme whose stems begin most words
of its title, else of its poles; of several with as many, the first in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judge_pipeline.settings.rubrics import ThemesFile
from judge_pipeline.tables.rubric import RUBRIC_THEME_SUMMARY, RUBRIC_THEMES

_WORD = re.compile(r"[a-z0-9]+")
_EFFECT = "coefficient"


def rubric_themes(
    rubrics: Mapping[str, pd.DataFrame], misalignments: Mapping[str, pd.DataFrame], themes: ThemesFile
) -> pd.DataFrame:
    """Every item of every set with its theme; table RUBRIC_THEMES.

    Args:
        rubrics: set -> table RUBRIC.
        misalignments: set -> table MISALIGNMENT; a set without one has no flags.
        themes: themes.yaml.
    """
    rows = []
    for name in sorted(rubrics):
        pooled = _pooled(misalignments.get(name))
        for item in rubrics[name].to_dict("records"):
            theme, assigned_by = theme_of(item, themes.items.get(name, {}).get(item["item"]), themes)
            ours, papers = pooled.get((item["item"], "paired"), {}), pooled.get((item["item"], "trace_pooled"), {})
            rows.append({
                "theme": theme,
                "criterion": None if theme is None else themes.themes[theme].criterion,
                "preference_set": name,
                "item": item["item"],
                "title": item["title"],
                "assigned_by": assigned_by,
                "difference": ours.get("value", papers.get("value")),
                "misaligned": ours.get("misaligned"),
                "misaligned_by_trace": papers.get("misaligned"),
            })  # fmt: skip
    return RUBRIC_THEMES.conform(rows)


def theme_of(item: Mapping[Any, Any], stated: str | None, themes: ThemesFile) -> tuple[str | None, str]:
    """The item's theme, None where none fits, and what put it there.

    Args:
        item: a row of table RUBRIC.
        stated: what themes.yaml says of it, if it does.
        themes: themes.yaml.
    """
    own = item["theme"] if isinstance(item["theme"], str) and item["theme"] in themes.themes else None
    theme = stated or own
    if theme is not None:
        return theme, "file"
    for text in (item["title"], f"{item['high']} {item['low']}"):
        words = _WORD.findall(text.lower())
        hits = {
            name: sum(any(word.startswith(stem) for stem in theme.stems) for word in words)
            for name, theme in themes.themes.items()
        }
        best = max(hits, key=lambda name: hits[name])
        if hits[best]:
            return best, "words"
    return None, "none"


def theme_summary(rows: pd.DataFrame, themes: ThemesFile) -> pd.DataFrame:
    """Table RUBRIC_THEME_SUMMARY: the themes that some item has, in the file's order.

    A theme is misaligned where an item of it is. Each item is tested at 5%, corrected within its set only: among many
    themes some are misaligned by chance.

    Args:
        rows: table RUBRIC_THEMES.
        themes: themes.yaml.
    """
    found = []
    for name, theme in themes.themes.items():
        own = rows[rows["theme"] == name]
        if own.empty:
            continue
        tested = own[own["misaligned"].notna()]
        differ = tested[tested["misaligned"].astype(bool)]
        by_trace = own[own["misaligned_by_trace"].notna()]
        found.append({
            "theme": name,
            "title": theme.title,
            "criterion": theme.criterion,
            "n_items": len(own),
            "n_sets": own["preference_set"].nunique(),
            "n_tested": len(tested),
            "n_overweighted": int((differ["difference"] > 0).sum()),
            "n_underweighted": int((differ["difference"] < 0).sum()),
            "misaligned": bool(len(differ)) if len(tested) else None,
            "misaligned_by_trace": bool(by_trace["misaligned_by_trace"].any()) if len(by_trace) else None,
        })  # fmt: skip
    return RUBRIC_THEME_SUMMARY.conform(found)


def _pooled(misalignment: pd.DataFrame | None) -> dict[tuple[str, str], dict[str, Any]]:
    """(item, test) -> the row about all judges pooled, with None for what is missing."""
    if misalignment is None:
        return {}
    own = misalignment[misalignment["judge"].isna() & (misalignment["effect"] == _EFFECT)]
    return {
        (row["item"], row["test"]): {
            name: None if pd.isna(row[name]) else row[name] for name in ("value", "misaligned")
        }
        for row in own.to_dict("records")
    }
