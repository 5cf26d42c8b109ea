"""``judge-pipeline``: the entry point, its commands and its exit codes.

Exit codes: 0 done, 1 the data or the judges failed (and it says which), 2 the command was wrong. ``compare`` and
``anchor`` have more.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.metadata import version

import click

from judge_pipeline.judging.failures import JudgingError
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
      judge-pipeline compare OLD NEW         what changed between two runs, with an exit code for CI

    Exit codes: 0 done; 1 the data or the judges failed, and it says which; 2 the command was wrong.

    Configuration is taken from assets_config/ in the nearest folder upwards, or in JUDGE_PIPELINE_HOME; results
    go to var/ beside it, or to JUDGE_PIPELINE_OUT; answers are kept there, or in JUDGE_PIPELINE_CHECKPOINT_URL.
    """


def main() -> None:
    """Run the command line and exit with its code."""
    # Set before anything imports litellm, which else asks the network for its price list.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
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
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
