"""What of the configuration can change a judge's table, as one number: part of the code version of such tables."""

from __future__ import annotations

import hashlib
import json

from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, System, Workspace
from judge_pipeline.settings.judges import AnyJudge


def configuration_sha256(workspace: Workspace, system: System = "cocreation") -> str:
    """The sha256 of all that judges.yaml and the prompt templates say about answers, and what is asked about.

    Ceilings, rates, limits, prices, keys and descriptions are left out: they decide whether, when and at what price an
    answer comes, and a table does not become outdated where they change. So are templates that no judge uses, and
    judges that serve other systems only.

    Args:
        workspace: whose configuration.
        system: what the judges serve. Of contests each judge has one template; of preference sets any may be used.

    Raises:
        SettingsError: judges.yaml is missing or wrong.
    """
    listed = workspace.judges()
    judges = {name: listed.get(name) for name in listed.names(system)}
    parts = {
        "judges": {name: judge.answer_settings() | {"scope": judge.scope.splits} for name, judge in judges.items()},
        "prompts": {name: _sha256(workspace, name) for name in _prompts(workspace, system, list(judges.values()))},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _prompts(workspace: Workspace, system: System, judges: list[AnyJudge]) -> set[str]:
    if system == "cocreation":
        return {judge.prompt for judge in judges if isinstance(judge, LitellmJudge | EmbeddedJudge)}
    named = {name for judge in judges for name in getattr(judge, "prompts", {}).values()}
    return named | {path.name for path in (workspace.config_dir / "prompts").glob("pair_*.j2")}


def _sha256(workspace: Workspace, prompt: str) -> str | None:
    """Of the template; None where there is none, which judging will say."""
    file = workspace.config_dir / "prompts" / prompt
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
