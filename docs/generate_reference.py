"""Writes the reference pages that follow from the code: tables, configuration, command line, Python API.

.venv/bin/python docs/generate_reference.py           write them
.venv/bin/python docs/generate_reference.py --check   exit 1 where one is out of date
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

import judge_pipeline
from judge_pipeline import api, settings, tables
from judge_pipeline.cli.main import cli
from judge_pipeline.settings.automation import AutomaticCeilings, AutomationFile
from judge_pipeline.settings.contest import AnchorSettings, CanarySettings, DynamicsSettings, RevisionSettings
from judge_pipeline.settings.criteria import Configuration, CriteriaFile, GuidanceUse
from judge_pipeline.settings.guidance import GuidanceSynthesis
from judge_pipeline.settings.injections import Injection, InjectionsFile
from judge_pipeline.settings.preference import SOURCES, PreferenceSettings, PreferenceSplit, RubricSettings
from judge_pipeline.settings.redaction import PairRedaction, RedactionSettings
from judge_pipeline.settings.rubrics import RubricFile, RubricItem, Theme, ThemesFile

HERE = Path(__file__).resolve().parent / "reference"
_MADE = "<!-- Made by docs/generate_reference.py from the code: do not edit. -->\n\n"


def tables_page() -> str:
    """Every table with its columns."""
    parts = [
        "# Tables\n\nEvery table of the graph, as Parquet in `var/tables/<table>/`. The key is what is unique; a null "
        "is a value that does not exist or is not known, and a reason stands beside it where the table has one.\n"
    ]
    for table in tables.ALL_TABLES:
        key = ", ".join(f"`{name}`" for name in table.key)
        parts.append(f"\n## {table.name}\n\n{table.description} Key: {key}.\n\n")
        parts.append("| column | kind | null | values | what it holds |\n|---|---|---|---|---|\n")
        parts += [
            f"| `{c.name}` | {c.kind} | {'yes' if c.nullable else 'no'} | {_values(c)} | {_cell(c.description)} |\n"
            for c in table.columns
        ]
        if table.open_prefix:
            parts.append(f"| `{table.open_prefix}...` | float | yes |  | {_cell(table.open_description)} |\n")
    return _MADE + "".join(parts)


def configuration_page() -> str:
    """Every setting with its meaning and default."""
    parts = [
        *_of_judges(), *_of_contests(), *_of_preference_sets(), *_of_rubrics(), *_of_criteria(), *_of_injections(),
        *_of_automation(), _ENVIRONMENT,
    ]  # fmt: skip
    return _MADE + "".join(parts)


def _of_judges() -> list[str]:
    parts = [
        "# Configuration\n\nWhat a team edits, in `assets_config/`. A wrong file is refused with its name, the line, "
        "the key and the remedy.\n\n## judges.yaml\n\n`judges:` maps a judge's name to its settings; `backend` says "
        "which of the following it is.\n"
    ]
    for model in (
        settings.LitellmJudge, settings.EmbeddedJudge, settings.RewardJudge, settings.RecordedJudge,
        settings.BaselineJudge,
    ):  # fmt: skip
        parts.append(_section(f"backend: {_backend(model)}", model))
    parts.append("\n## Parts of a judge's settings\n")
    for model in (settings.Scope, settings.Limits, settings.Price, settings.Batch):
        parts.append(_section(model.__name__.lower(), model))
    parts.append(f"\n## providers\n\nBeside `judges`. {_doc(settings.Rates)}\n\n{_settings_table(settings.Rates)}")
    parts.append(
        f"\n## ceiling_usd\n\nBeside `judges`. {_doc(settings.Ceilings)}\n\n{_settings_table(settings.Ceilings)}"
    )
    return parts


def _of_contests() -> list[str]:
    return [
        "\n## contests.yaml and contest.yaml\n\n`assets_config/contests.yaml` holds the defaults; a contest's own "
        "`contest.yaml` may set any of the same keys.\n\n" + _settings_table(settings.ContestSettings),
        _section("split", settings.SplitRatios),
        _section("redaction", RedactionSettings),
        _section("anchor", AnchorSettings),
        _section("canary", CanarySettings),
        _section("revision", RevisionSettings),
        _section("dynamics", DynamicsSettings),
    ]


def _of_preference_sets() -> list[str]:
    parts = [
        "\n## preference.yaml\n\n`assets_config/preference.yaml` holds the defaults; a set's own `preference.yaml` may "
        "set any of the same keys. How to use it: [bring a preference set](../how-to/bring-preferences.md). "
        "`source` says a format, with the settings below.\n\n" + _settings_table(PreferenceSettings)
    ]
    parts.append(_section("split of preference.yaml", PreferenceSplit))
    parts.append(_section("redaction of preference.yaml", PairRedaction))
    for model in SOURCES:
        name = model.model_fields["format"].annotation.__args__[0]
        parts.append(_section(f"source, format: {name}", model))
    parts.append(
        f"\n### rubric of preference.yaml\n\n{_doc(RubricSettings)} A set that states `rubric` states all of it: what "
        "it leaves out has the default below. How to use it: [find a rubric](../how-to/find-a-rubric.md).\n\n"
        + _settings_table(RubricSettings)
    )
    return parts


def _of_rubrics() -> list[str]:
    return [
        "\n## rubrics/*.yaml\n\nRubric items that people wrote, a set's own `rubric.yaml`, and what a run writes for a "
        "person to edit.\n\n" + _settings_table(RubricFile),
        f"\n### A rubric item\n\n{_settings_table(RubricItem)}",
        "\n## rubrics/themes.yaml\n\nA workspace without it has the one that comes with the package.\n\n"
        + _settings_table(ThemesFile),
        f"\n### A theme\n\n{_settings_table(Theme)}",
    ]


def _of_criteria() -> list[str]:
    return [
        "\n## criteria.yaml\n\nHow pairs are judged criterion by criterion. A workspace without it has the one that "
        "comes with the package. How to use it: [judge by criteria](../how-to/judge-by-criteria.md), [run an "
        "ablation](../how-to/run-an-ablation.md).\n\n" + _settings_table(CriteriaFile),
        _section("A configuration", Configuration),
        _section("guidance of criteria.yaml", GuidanceSynthesis),
        _section("guidance of a configuration", GuidanceUse),
    ]


def _of_injections() -> list[str]:
    return [
        "\n## injections.yaml\n\nTexts that `judge-pipeline canary` plants. A workspace without it has the one that "
        "comes with the package.\n\n" + _settings_table(InjectionsFile),
        f"\n### An injection\n\n{_settings_table(Injection)}",
    ]


def _of_automation() -> list[str]:
    parts = [
        "\n## automation.yaml\n\nWhat runs by itself, what it may cost, who is told. A workspace without it has the "
        "one that comes with the package. How to use it: [let it run itself](../how-to/let-it-run-itself.md).\n\n"
        + _settings_table(AutomationFile)
    ]
    for name, field in AutomationFile.model_fields.items():
        parts.append(_section(name, field.annotation))
    parts.append(_section("ceiling_usd of judging", AutomaticCeilings))
    return parts


def _section(title: str, model: Any) -> str:
    return f"\n### {title}\n\n{_doc(model)}\n\n{_settings_table(model)}"


_ENVIRONMENT = (
    "\n## Environment variables\n\n| variable | meaning |\n|---|---|\n"
    "| `JUDGE_PIPELINE_HOME` | the workspace: a folder with `assets_config/`; else the nearest folder upwards |\n"
    "| `JUDGE_PIPELINE_OUT` | where to write; else `var/` in the workspace |\n"
    "| `JUDGE_PIPELINE_ASK` | `never`: no judge is asked anything; what is not stored is a failure |\n"
    "| `JUDGE_PIPELINE_CHECKPOINT_URL` | database of answers, `postgresql://...` or `sqlite:///...`; else "
    "`checkpoint.sqlite` where results are written; may hold a password, and is never stored, never logged |\n"
    "| `JUDGE_PIPELINE_STORE_URL` | where tables, ledgers, tombstones, reports, exports, rubrics, guidance and "
    "screenshots lie, `s3://bucket/prefix` or a folder; else where results are written; its keys are those of the "
    "store's client (`AWS_ACCESS_KEY_ID`, ...) |\n"
    "| `JUDGE_PIPELINE_DAGSTER_URL` | Dagster's database, where `dagster.yaml` is that of `deploy/`: "
    "`postgresql+psycopg2://...` |\n"
    "| `JUDGE_PIPELINE_BROKER_URL`, `JUDGE_PIPELINE_RESULTS_URL` | the broker of workers, `redis://...`, and where "
    "they say how tasks ended (else the broker); never stored, never logged |\n"
    "| `JUDGE_PIPELINE_EXECUTOR`, `JUDGE_PIPELINE_SHARD_EXECUTOR` | where the steps of runs, and those of runs in "
    "shards, are executed: `in_process`, `multiprocess`, `celery` |\n"
    "| `JUDGE_PIPELINE_SECRETS_FILE` | a file of `NAME=value` lines, or a folder with a file a secret, where keys "
    "and addresses are looked for that the environment does not set; only its owner may read it |\n"
    "| `JUDGE_PIPELINE_UMASK` | what is taken from others' rights on what commands write; else `077`: all |\n"
    "| `JUDGE_PIPELINE_WEBHOOK_URL`, `JUDGE_PIPELINE_SMTP_URL`, or what `notify` in automation.yaml names | where "
    "failures are told; never stored, never logged |\n"
    "| `OPENLINEAGE_URL`, `OPENLINEAGE_ENDPOINT`, `OPENLINEAGE_API_KEY`, `OPENLINEAGE_NAMESPACE`, "
    "`OPENLINEAGE_DISABLED` | where runs that ended are sent as OpenLineage events |\n"
    "| `JUDGE_PIPELINE_PSEUDONYM_KEY`, or what `redaction.key_env` names | the key of pseudonyms and tombstones; "
    "16 characters or more |\n"
    "| what a judge's `api_key_env` names | its key; never stored, never logged |\n"
)


def command_line_page() -> str:
    """The help of every command."""
    parts = [
        "# Command line\n\nExit codes: 0 done, 1 the data or the judges failed (and it says which), "
        "2 the command was wrong.\n"
    ]
    for path, command in _commands(cli, "judge-pipeline"):
        context = click.Context(command, info_name=path, max_content_width=100, terminal_width=100)
        parts.append(f"\n## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return _MADE + "".join(parts)


def python_api_page() -> str:
    """Every public name with its signature and docstring."""
    parts = [
        "# Python API\n\n"
        "What `from judge_pipeline import ...` offers; [use it from a notebook](../how-to/use-from-a-notebook.md) "
        "shows it in use. Other modules may change without notice.\n\n"
        f"```text\n{inspect.getdoc(api)}\n```\n"
    ]
    for name in judge_pipeline.__all__:
        thing = getattr(judge_pipeline, name)
        parts.append(f"\n## {name}\n\n{_described(name, thing)}")
        methods = [
            (attribute, method)
            for attribute, method in vars(thing).items()
            if inspect.isclass(thing) and inspect.isfunction(method) and not attribute.startswith("_")
        ]
        parts += [f"\n### {name}.{attribute}\n\n{_described(attribute, method)}" for attribute, method in methods]
    return _MADE + "".join(parts)


PAGES = {
    "tables.md": tables_page,
    "configuration.md": configuration_page,
    "command-line.md": command_line_page,
    "python-api.md": python_api_page,
}


def _described(name: str, thing: Any) -> str:
    kind = "class " if inspect.isclass(thing) else "def "
    signature = "" if inspect.isclass(thing) and issubclass(thing, Exception) else _signature(thing)
    return f"```text\n{kind}{name}{signature}\n\n{inspect.getdoc(thing)}\n```\n"


def _signature(thing: Any) -> str:
    """The signature as it is written; long ones a parameter a line."""
    signature = inspect.signature(thing)
    bare = [p.replace(annotation=str(p.annotation).strip("'")) for p in signature.parameters.values()]
    returns = "" if inspect.isclass(thing) else f" -> {str(signature.return_annotation).strip(chr(39))}"
    shown, starred = [], False
    for parameter in bare:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        shown.append(_parameter(parameter))
    line = f"({', '.join(shown)}){returns}"
    return line if len(line) <= 90 else "(\n    " + ",\n    ".join(shown) + f",\n){returns}"


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.name == "self":
        return "self"
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {parameter.annotation}{default}"


def _commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")
        elif command is not None:
            yield f"{path} {name}", command


def _settings_table(model: type[BaseModel]) -> str:
    rows = [
        f"| `{name}` | {_default(field)} | {_cell(field.description or '')} |\n"
        for name, field in model.model_fields.items()
        if name != "backend"
    ]
    return "| key | default | meaning |\n|---|---|---|\n" + "".join(rows)


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        changed = value.model_dump(exclude_defaults=True)
        return f"`{changed}`" if changed else "see below"
    return "null" if value is None else f"`{list(value) if isinstance(value, tuple) else value}`"


def _values(column: tables.Column) -> str:
    if column.allowed:
        return " ".join(f"`{value}`" for value in column.allowed)
    low = f"≥ {column.low:g}" if column.low is not None else ""
    high = f"≤ {column.high:g}" if column.high is not None else ""
    return " ".join(filter(None, (low, high)))


def _backend(model: type[BaseModel]) -> str:
    return str(model.model_fields["backend"].annotation.__args__[0])  # type: ignore[union-attr]


def _doc(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write the pages, or with --check say which are out of date."""
    check = "--check" in sys.argv[1:]
    stale = []
    for name, page in PAGES.items():
        text = page()
        file = HERE / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
    if check and stale:
        print(f"out of date: {', '.join(stale)}; run 'make docs'")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
