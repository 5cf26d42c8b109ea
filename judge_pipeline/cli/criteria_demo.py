"""``judge-pipeline demo --criteria``: the sample preference set judged criterion by criterion by a scripted judge."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from judge_pipeline.settings import Workspace, packaged_config_dir

if TYPE_CHECKING:
    from judge_pipeline.samples.scripted_server import Answer, ScriptedServer

JUDGE = "scripted-judge"
PORT = 18_710
"""The server's URL is part of what a request is: at the same port, a second run finds its answers stored."""

_FOLDER = "criteria-demo"
_CONFIGURATIONS = Path(__file__).resolve().parent.parent / "samples" / "criteria_demo" / "criteria.yaml"
_JUDGES = """\
# Written by judge-pipeline demo --criteria. {judge} is no model: judge_pipeline/samples/scripted_judge.py
judges:
  {judge}:
    description: "Scripted, no model: a rule with known faults"
    backend: litellm
    transport: direct
    model: openai/scripted-judge-{version}
    base_url: {url}
    send_schema: true
    systems: [criteria]
    price: {{input_usd_per_million_tokens: 0, output_usd_per_million_tokens: 0}}
    limits: {{max_in_flight: 8}}
"""


def demo_criteria(workspace: Workspace) -> int:
    """Judge the sample set under the demo's configurations; returns the exit code.

    Configuration and results lie in a folder of their own below the output folder, so that the scripted judge stands
    beside no model.
    """
    from judge_pipeline.cli.criteria_run import CriteriaRun, run_by_criteria
    from judge_pipeline.cli.preference_run import sample_set
    from judge_pipeline.samples.sample_script import POSITION_BIAS, sample_script, script_version

    console = Console()
    script = sample_script()
    with listening(script.answer) as server:
        own = demo_workspace(workspace.out_dir / _FOLDER, server.url, script_version(script))
        console.print(
            Text(
                f"Judge: {JUDGE}, at {server.url}. It is no model: a rule with known faults (blind to length unless "
                f"guidance names it, says A of what stands first in {POSITION_BIAS:.0%} of its verdicts). Figures show "
                "that the pipeline works, and nothing about any model."
            )
        )
        configurations = {JUDGE: own.criteria().run[JUDGE]}
        outcome = run_by_criteria(own, sample_set(), CriteriaRun(configurations), console)
        console.print(Text(f"Asked in this run: {len(server.bodies):,} requests."))
        there = shlex.quote(str(own.out_dir))
        console.print(
            "Its results lie apart. Other commands look there so:\n"
            f"  JUDGE_PIPELINE_HOME={there} JUDGE_PIPELINE_OUT={there} judge-pipeline ui",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )
    return outcome.code


@contextmanager
def listening(answer: Answer) -> Iterator[ScriptedServer]:
    """The server at its own port, or at a free one where that is taken."""
    from judge_pipeline.samples.scripted_server import ScriptedServer

    try:
        server = ScriptedServer(answer, PORT)
    except OSError:
        server = ScriptedServer(answer)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def demo_workspace(folder: Path, url: str, version: str) -> Workspace:
    """A workspace in the folder with the scripted judge, the demo's configurations and the package's prompts.

    Args:
        folder: where it is made.
        url: where the judge listens.
        version: of its script; another one is another model, whose answers are not those of this one.
    """
    config, packaged = folder / "assets_config", packaged_config_dir()
    shutil.copytree(packaged / "prompts", config / "prompts", dirs_exist_ok=True)
    for name in ("preference.yaml", "contests.yaml"):
        shutil.copyfile(packaged / name, config / name)
    shutil.copyfile(_CONFIGURATIONS, config / "criteria.yaml")
    (config / "judges.yaml").write_text(_JUDGES.format(judge=JUDGE, url=url, version=version), encoding="utf-8")
    return Workspace(config, folder / "data", folder)
