"""``judge-pipeline``: the entry point, its commands and its exit codes.

Exit codes: 0 done, 1 the data or the judges failed (and it says which), 2 the command was wrong. ``compare`` and
``anchor`` have more.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version

import click

from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.settings.file_permissions import kept_from_others
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import TableError

_COMMANDS = {
    "demo": ("judge_pipeline.cli.run", "demo"),
    "run": ("judge_pipeline.cli.run", "run"),
    "ui": ("judge_pipeline.cli.ui", "ui"),
    "init": ("judge_pipeline.cli.init", "init"),
    "plan": ("judge_pipeline.cli.plan", "plan"),
    "status": ("judge_pipeline.cli.status", "status"),
    "batches": ("judge_pipeline.cli.batches", "batches"),
    "checkpoint": ("judge_pipeline.cli.checkpoint", "checkpoint"),
    "explain": ("judge_pipeline.cli.explain", "explain"),
    "trace": ("judge_pipeline.cli.trace", "trace"),
    "report": ("judge_pipeline.cli.report", "report"),
    "leaderboard": ("judge_pipeline.cli.leaderboard", "leaderboard"),
    "parse": ("judge_pipeline.cli.parse", "parse"),
    "preference": ("judge_pipeline.cli.preference", "preference"),
    "criteria": ("judge_pipeline.cli.criteria", "criteria"),
    "evaluate": ("judge_pipeline.cli.evaluate", "evaluate"),
    "compare": ("judge_pipeline.cli.compare", "compare"),
    "canary": ("judge_pipeline.cli.canary", "canary"),
    "anchor": ("judge_pipeline.cli.anchor", "anchor"),
    "rerate": ("judge_pipeline.cli.rerate", "rerate"),
    "forget": ("judge_pipeline.cli.forget", "forget"),
    "bundle": ("judge_pipeline.cli.bundle", "bundle"),
    "verify": ("judge_pipeline.cli.verify", "verify"),
    "worker": ("judge_pipeline.cli.worker", "worker"),
    "notify": ("judge_pipeline.cli.notify", "notify"),
}


class _LazyGroup(click.Group):
    """Loads a command's module only when it is asked for: ``--help`` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version("judge-pipeline"), prog_name="judge-pipeline")
def cli() -> None:
    """Measure LLM judges of code, and the people who code with AI.

    \b
    First steps
      judge-pipeline demo                    the sample contest, end to end, no key needed
      judge-pipeline init DIR                an empty workspace: configuration, a contest folder
      judge-pipeline plan CONTEST_DIR        what would be asked of which judge, and its price
      judge-pipeline run CONTEST_DIR         from raw files to the report
      judge-pipeline ui                      the same graph in the Dagster UI
      judge-pipeline explain ATTEMPT_ID --judge J   what was asked, what came back, what the figures used
      judge-pipeline trace METRIC --judge J  from a figure home to its rows, calls and files; and from a file back
      judge-pipeline rerate make CONTEST     a blinded sheet for people who judge a sample again
      judge-pipeline canary CONTEST          whether judges can be talked round by what they judge
      judge-pipeline anchor CONTEST          whether judges say now what they said before: drift

    \b
    With what you already have
      judge-pipeline parse PATH... --json    what is read from pages, feeds and chat logs
      judge-pipeline preference SET_DIR      pairs of responses with people's choices: do judges choose alike, and why
      judge-pipeline criteria SET_DIR        the same pairs judged criterion by criterion, guided by people's choices
      judge-pipeline evaluate attempts FILE  the judges' figures from predictions in a file
      judge-pipeline evaluate pairs FILE     whether judges choose between two responses as people do
      judge-pipeline bundle CONTEST          what the figures rest on, in one archive for an auditor
      judge-pipeline verify FILE             whether such an archive holds together; asks nobody
      judge-pipeline compare OLD NEW         what changed between two runs, with an exit code for CI

    Exit codes: 0 done; 1 the data or the judges failed, and it says which; 2 the command was wrong.

    Configuration is taken from assets_config/ in the nearest folder upwards, or in JUDGE_PIPELINE_HOME; results
    go to var/ beside it, or to JUDGE_PIPELINE_OUT, and where JUDGE_PIPELINE_STORE_URL names an object store tables and
    reports go there; answers are kept in the same folder, or in JUDGE_PIPELINE_CHECKPOINT_URL. Keys are read from the
    environment, or from JUDGE_PIPELINE_SECRETS_FILE. What is written only its owner may read, unless
    JUDGE_PIPELINE_UMASK says otherwise (027: the group may, too).
    """


def main() -> None:
    """Run the command line and exit with its code."""
    # Set before anything imports litellm, which else asks the network for its price list.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        with _streams_given_back(), kept_from_others():
            code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (SettingsError, TableError, JudgingError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped. What was answered is kept; run the same command again to go on.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        # A folder that cannot be written, a full disk: the person's to mend, so no traceback.
        where = f"{error.filename}: " if error.filename is not None and error.strerror else ""
        click.echo(f"Error: {where}{error.strerror or error}", err=True)
        sys.exit(1)
    except Exception as error:
        # Dagster's records on a full disk, locked, or gone while a run writes to them.
        trouble = _with_records(error)
        if trouble is None:
            raise
        click.echo(f"Error: {trouble}, and run the same command again. What was answered is kept.", err=True)
        from judge_pipeline.judging.checkpoint.rescue import commands_to_bring_in

        for command in commands_to_bring_in():
            click.echo(
                f"Answers that the checkpoint did not take are in a file; bring them in before: {command}", err=True
            )
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _with_records(error: Exception) -> str | None:
    """What is wrong with Dagster's records of runs and what helps, where that is what the error is about."""
    from judge_pipeline.orchestration.instance import database_is_away

    if away := database_is_away(error):
        return f"Dagster's database cannot be reached ({away}): wait until its server is back"
    said = getattr(error, "orig", None)
    if said is None or not type(error).__module__.startswith("sqlalchemy."):
        return None
    return (
        f"Dagster's records of runs cannot be used ({said}): make room on the disk, or wait until the other program "
        "lets go of them"
    )


@contextmanager
def _streams_given_back() -> Iterator[None]:
    """Give back what standard output and errors were, so that an error's words are read whatever came before them.

    Dagster points both at files of its own while a step runs, and where the disk is full it may not come back.
    """
    kept = {}
    for number in (1, 2):
        with suppress(OSError):  # a stream that is closed stays so
            kept[number] = os.dup(number)
    try:
        yield
    finally:
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


if __name__ == "__main__":
    main()
