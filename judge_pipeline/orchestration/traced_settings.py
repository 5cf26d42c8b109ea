"""The trace of a contest's or a set's own file of settings: no row is read from it, and much is made under it."""

from __future__ import annotations

from dataclasses import asdict

from judge_pipeline.lineage.settings_reach import FIRST_TABLES, reached
from judge_pipeline.lineage.sources import CONTEST, OVER_ALL, PREFERENCE_SET
from judge_pipeline.orchestration.tracing import SCHEMA, Trace, Tracer
from judge_pipeline.settings import ContestSettings, PreferenceSettings
from judge_pipeline.settings.yaml_file import load
from judge_pipeline.tables import ALL_TABLES

SETTINGS_FILES = {CONTEST: "contest.yaml", PREFERENCE_SET: "preference.yaml"}
"""Kind of a folder -> the file of settings in it."""

MADE_UNDER = "made under it"
"""What a file of settings is to a figure."""

_TABLES = {table.name for table in ALL_TABLES}


def has_settings(tracer: Tracer, kind: str, name: str) -> bool:
    """Whether the contest or the set has a file of settings of its own."""
    return (tracer.traced.folder(kind, name) / SETTINGS_FILES[kind]).is_file()


def trace_of_settings(tracer: Tracer, kind: str, name: str) -> Trace:
    """The file: what it sets, the tables that each setting decides on, and the figures in these.

    Of a preference set's file it is not told apart which setting decides on which table: all that are made of the set.

    Raises:
        SettingsError: the file is wrong.
    """
    file = tracer.traced.folder(kind, name) / SETTINGS_FILES[kind]
    model = ContestSettings if kind == CONTEST else PreferenceSettings
    settings = {}
    for setting in sorted(load(model, file).model_fields_set):
        first = FIRST_TABLES[setting] if kind == CONTEST else ("preference_pairs",)
        under_it = [name for name in reached(tracer.graph, first) if name in _TABLES]
        settings[setting] = {"first": list(first), "tables": under_it}
    tables = sorted({table for reach in settings.values() for table in reach["tables"]})
    figures = tracer.figures([(kind, name), (OVER_ALL, "")], tables)
    return {
        "schema": SCHEMA,
        "kind": "file",
        "file": {**asdict(tracer.states.state(kind, name, file.name)), "judges_recorded_in_it": []},
        "settings": settings,
        "participants_whose_prompts_it_holds": [],
        "subjects": [],
        "judgments": [],
        "tables": tables,
        "figures": [tracer.shown(figure) | {"role": MADE_UNDER} for figure in figures],
        "figures_not_read": dict(tracer.unread),
        "versions": tracer.versions({}),
    }
