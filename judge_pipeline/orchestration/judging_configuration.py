"""What of the configuration can change a judge's table, as one number: part of the code version of such tables."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, System, Workspace
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.settings.guidance import FOLDER
from judge_pipeline.settings.judges import AnyJudge

_PROMPTS: dict[System, tuple[str, ...]] = {"preference": ("pair_*.j2",), "criteria": ("criteria_*.j2",)}
"""System -> templates of which any may be used."""


def configuration_sha256(workspace: Workspace, system: System = "cocreation") -> str:
    """The sha256 of all that judges.yaml and the prompt templates say about answers, and what is asked about.

    Ceilings, rates, limits, prices, keys and descriptions are left out: they decide whether, when and at what price an
    answer comes, and a table does not become outdated where they change. So are templates that no judge uses, and
    judges that serve other systems only.

    Args:
        workspace: whose configuration.
        system: what the judges serve. Of contests each judge has one template; of preference sets any may be used. Of
            criteria it is the configurations, too, and ready-made guidance.

    Raises:
        SettingsError: judges.yaml is missing or wrong.
    """
    listed = workspace.judges()
    judges = {name: listed.get(name) for name in listed.names(system)}
    parts: dict[str, Any] = {
        "judges": {name: _answers(judge, system) | {"scope": judge.scope.splits} for name, judge in judges.items()},
        "prompts": {name: _sha256(workspace, name) for name in _prompts(workspace, system, list(judges.values()))},
    }
    if system == "criteria":
        file = workspace.criteria()
        parts["configurations"] = {name: judged_how(own) for name, own in file.configurations.items()}
        parts["shown"] = file.model_dump(mode="json", include={"context_chars", "response_chars", "images"})
        parts["guidance"] = {path.name: _file_sha256(path) for path in _guidance_files(workspace)}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def prompts_sha256(workspace: Workspace, system: System, judge: AnyJudge) -> str:
    """The sha256 of the templates that a judge may be asked by, and of which of them are its own."""
    parts = {
        "own": getattr(judge, "prompts", {}),
        "prompts": {name: _sha256(workspace, name) for name in sorted(_prompts(workspace, system, [judge]))},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _answers(judge: AnyJudge, system: System) -> dict[str, Any]:
    """What of the judge's settings can change its answers to what the system asks."""
    if system == "cocreation":
        return judge.answer_settings()
    return judge.answer_settings("pair") | {"prompts": getattr(judge, "prompts", {})}


def judged_how(configuration: Configuration) -> dict[str, Any]:
    """What of a configuration can change a decision: all but what it says of itself."""
    return configuration.model_dump(mode="json", exclude={"description", "paper_rows"})


def _guidance_files(workspace: Workspace) -> list[Path]:
    """Ready-made guidance; what is synthesized is a table's own matter."""
    return sorted((workspace.config_dir / FOLDER).glob("*.yaml"))


def _prompts(workspace: Workspace, system: System, judges: list[AnyJudge]) -> set[str]:
    if system == "cocreation":
        return {judge.prompt for judge in judges if isinstance(judge, LitellmJudge | EmbeddedJudge)}
    named = {name for judge in judges for name in getattr(judge, "prompts", {}).values()}
    found = ((workspace.config_dir / "prompts").glob(pattern) for pattern in _PROMPTS[system])
    return named | {path.name for paths in found for path in paths}


def _sha256(workspace: Workspace, prompt: str) -> str | None:
    """Of the template; None where there is none, which judging will say."""
    file = workspace.config_dir / "prompts" / prompt
    return _file_sha256(file) if file.is_file() else None


def _file_sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
