"""What of the configuration can change a judge's table, as one number: part of the code version of such tables."""

from __future__ import annotations

import hashlib
import json

from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, Workspace


def configuration_sha256(workspace: Workspace) -> str:
    """The sha256 of all that judges.yaml and the prompt templates say about answers, and for which attempts.

    Ceilings, rates, limits, prices, keys and descriptions are left out: they decide whether, when and at what price an
    answer comes, and a table does not become outdated where they change. So are templates that no judge uses, and
    judges that serve other systems only.

    Raises:
        SettingsError: judges.yaml is missing or wrong.
    """
    listed = workspace.judges()
    judges = {name: listed.get(name) for name in listed.names("cocreation")}
    prompts = {judge.prompt for judge in judges.values() if isinstance(judge, LitellmJudge | EmbeddedJudge)}
    parts = {
        "judges": {name: judge.answer_settings() | {"scope": judge.scope.splits} for name, judge in judges.items()},
        "prompts": {name: _sha256(workspace, name) for name in prompts},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _sha256(workspace: Workspace, prompt: str) -> str | None:
    """Of the template; None where there is none, which judging will say."""
    file = workspace.config_dir / "prompts" / prompt
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
