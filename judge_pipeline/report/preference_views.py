"""Tables of the preference report on the set itself: profile, what the importer did, who judged, where it is from."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judge_pipeline.figures.estimates import count, format_number, number, read_estimate, text
from judge_pipeline.report.asked_with import asked_with_words
from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.report.preference_inputs import OVER_SETS, PreferenceProvenance, PreferenceReportInput
from judge_pipeline.report.trace_anchor import PREFERENCE_FOLDER, row_link
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline.tables import DATASET_PROFILE

PROFILE_WORDS = {
    "pairs": "Pairs",
    "instructions": "Different instructions",
    "natural_languages": "Natural languages",
    "programming_languages": "Programming languages",
    "context_chars": "Context, characters",
    "output_chars": "Response, characters",
    "code_lines": "Lines of code",
    "edit_distance_lines": "Edit distance of the responses, lines",
    "with_instruction": "Pairs with an instruction in words",
    "with_code_to_edit": "Pairs with marked code to edit",
    "with_file_context": "Pairs with a file around",
    "ties": "Pairs labelled a tie",
    "chose_first_in_source": "Chosen: the response that the source names first",
    "same_response": "Pairs with the same response twice",
}
"""Figure of ``dataset_profile`` -> what it is called."""

EFFECT_WORDS = {
    "kept": "kept", "swapped": "kept, responses swapped", "merged": "merged into another row's pair",
    "left_out": "left out by a setting", "set_aside": "set aside as faulty",
}  # fmt: skip

MAX_LEVELS = 6
"""Languages of each kind that the profile lists, those with the most pairs first."""


def profile(table: pd.DataFrame) -> View:
    """What the set is like (TRACE, Table 1)."""
    view = View(
        "profile", "The set in figures (as in TRACE, Table 1)",
        (Heading("Figure"), Heading("Value", numeric=True), Heading("n", numeric=True)),
        empty="The profile is empty.",
    )  # fmt: skip
    levels: dict[str, int] = {}
    for row in table.to_dict("records"):
        figure, level = row["figure"], text(row["level"])
        if level is not None:
            levels[figure] = levels.get(figure, 0) + 1
            if levels[figure] > MAX_LEVELS:
                continue
        estimate = read_estimate(row)
        name = PROFILE_WORDS[figure] + (f", {row['statistic']}" if row["statistic"] in ("p50", "p95") else "")
        value = "undefined" if estimate.value is None else _value(estimate.value, share=row["statistic"] == "share")
        left_out = f" ({estimate.n_left_out:,} left out)" if estimate.n_left_out else ""
        home = row_link(PREFERENCE_FOLDER, DATASET_PROFILE, row)
        view.rows.append(
            [
                Cell(name if level is None else f"{name}: {level}"),
                Cell(value, marks=view.mark(estimate), numeric=True, undefined=estimate.value is None, link=home),
                Cell(f"{estimate.n:,}{left_out}", numeric=True),
            ]
        )
    more = {figure: n - MAX_LEVELS for figure, n in levels.items() if n > MAX_LEVELS}
    view.remarks += [f"{PROFILE_WORDS[figure]}: {n} rarer ones are not listed." for figure, n in more.items()]
    return view


def selection(table: pd.DataFrame) -> View:
    """What the importer did with the rows of the files, and by which setting."""
    view = View(
        "selection", "What became of the rows of the files",
        (Heading("What was done"), Heading("Why"), Heading("Setting"), Heading("File"), Heading("Rows", numeric=True)),
        empty="No row was counted.", foldable=True, table="preference_selection",
    )  # fmt: skip
    for row in table.to_dict("records"):
        view.rows.append(
            [
                Cell(EFFECT_WORDS[row["effect"]]), Cell(row["reason"]), Cell(text(row["setting"]) or "–"),
                Cell(row["source_file"], below=(row["origin"],)), Cell(f"{count(row['n']):,}", numeric=True),
            ]
        )  # fmt: skip
    return view


def quarantine(table: pd.DataFrame) -> View:
    """What could not be read, why, and what to do."""
    view = View(
        "quarantine", "Rows and files that could not be read",
        (Heading("Where"), Heading("Field"), Heading("Reason"), Heading("What to do")),
        empty="Every row of every file could be read.", foldable=True, table="preference_quarantine",
    )  # fmt: skip
    for row in table.to_dict("records"):
        value = text(row["value"])
        view.rows.append(
            [
                Cell(row["source_file"], below=(text(row["place"]) or "whole file",)),
                Cell(text(row["field"]) or "–", below=(f"holds {value!r}",) if value else ()),
                Cell(row["reason"]), Cell(row["remedy"]),
            ]
        )  # fmt: skip
    return view


def coverage(table: pd.DataFrame, kinds: Mapping[str, JudgeKind]) -> View:
    """Which judges' tables are whole, what they were asked for and what it cost; why the others are not."""
    headings = (
        "Judge",
        "Verified",
        "Asked for",
        "Family",
        "Pairs judged",
        "Answers",
        "Invalid",
        "Tries",
        "Cost, US$",
        "Model",
    )
    numeric = ("Pairs judged", "Answers", "Invalid", "Tries", "Cost, US$")
    view = View(
        "coverage", "Judges: verified or why not", [Heading(name, numeric=name in numeric) for name in headings],
        empty="No judge that serves preference sets is configured.",
    )  # fmt: skip
    for row in table.to_dict("records"):
        kind, tries, cost = kinds[row["judge"]], number(row["n_tries"]), number(row["cost_usd"])
        answers, invalid = count(row["n_answers"]), count(row["n_invalid"])
        share = (f"{100 * invalid / answers:.1f}%",) if answers else ()
        classes = text(row["invalid"])
        view.rows.append(
            [
                Cell(kind.judge, tags=kind.tags),
                Cell("yes" if kind.verified else f"no: {kind.status}", below=(kind.reason,) if kind.reason else (),
                     undefined=not kind.verified),
                Cell(row["scope"], below=(f"n = {count(row['n_in_scope']):,}",)),
                Cell(text(row["family"]) or "–"),
                Cell(f"{count(row['n_judged']):,}", numeric=True),
                Cell(f"{answers:,}", numeric=True),
                Cell(f"{invalid:,}", below=(*share, *([classes.replace("_", " ")] if classes else [])), numeric=True),
                Cell("–" if tries is None else f"{int(tries):,}", numeric=True, undefined=tries is None),
                Cell("–" if cost is None else format_number(cost, 4), numeric=True, undefined=cost is None),
                Cell(text(row["model"]) or "–"),
            ]
        )  # fmt: skip
    view.rows.sort(key=lambda row: row[1].undefined)
    view.remarks.append(
        "Verified judges first. Where others have figures below, their status stands beside their name."
    )
    return view


def provenance(given: PreferenceProvenance) -> list[View]:
    """Where the numbers come from."""
    main = {
        "Preference set": given.preference_set,
        "Who or what chose": given.chosen_by,
        "Fingerprint of its files": given.fingerprint,
        "judge_pipeline": given.code_version,
        "Seed": str(given.seed),
        "Bootstrap resamples": f"{given.resamples:,}",
        "Scoring rule": given.rule,
        **given.settings,
    }
    asked = {judge: asked_with_words(given.asked_with[judge]) for judge in given.asked_with}
    return [
        _pairs("provenance", "Where the numbers come from", ("What", "Value"), main),
        _pairs("prompt-hashes", "Prompt templates (sha256)", ("Asked", "Version"), given.prompt_hashes),
        _pairs("asked-with", "Parameters that judges were asked with", ("Judge", "Asked with"), asked),
        _pairs("data-versions", "Versions of the tables", ("Table", "Version"), given.data_versions),
    ]


def missing_tables(given: PreferenceReportInput, preference_set: str) -> View:
    """Which tables the report could not show, and what makes them."""
    view = View(
        "missing", "Tables that are not there", (Heading("Table"), Heading("What it holds"), Heading("What to run"))
    )
    words = {name: schema.description for name, schema in given.schemas().items()}
    for name in given.missing:
        where = "over all sets" if name in OVER_SETS else f"for {preference_set}"
        run = f"Materialize the asset {name} {where} in the UI"
        view.rows.append([Cell(name), Cell(words.get(name, "What each judge chose.")), Cell(run)])
    view.remarks.append("judge-pipeline preference FOLDER, with the set's folder, goes through all of them.")
    return view


def _pairs(name: str, caption: str, headings: tuple[str, str], given: Mapping[str, str]) -> View:
    view = View(name, caption, [Heading(words) for words in headings], empty="None was handed to the report.")
    view.rows = [[Cell(key), Cell(value)] for key, value in given.items()]
    return view


def _value(value: float, *, share: bool) -> str:
    if share:
        return f"{100 * value:.1f}%"
    return f"{int(value):,}" if value == round(value) else f"{value:,.1f}"
