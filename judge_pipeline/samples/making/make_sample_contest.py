"""Write the sample contest's folder, and what its attempts truly are, from the plan and the measured verdicts.

Run as ``python -m judge_pipeline.samples.making.make_sample_contest``. The same plan and the same ``verdicts.jsonl``
give the same bytes on every machine. The simulated judges' files below ``recorded/`` are written by
``simulate_judges``, and are left as they are here.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from judge_pipeline.samples.making.artifacts import artifacts
from judge_pipeline.samples.making.catalogue import MAKING, problems
from judge_pipeline.samples.making.chat_files import prompt_log_files
from judge_pipeline.samples.making.plan import CONTEST

CONTEST_DIR = MAKING.parent / "contests" / CONTEST
EXPECTED_FILE = MAKING / "expected_attempts.jsonl"
_WRITTEN = ("contest.yaml", "submissions", "prompts", "problems")


def make_contest(folder: Path, expected_file: Path) -> None:
    """Write the contest into ``folder`` (replacing what an earlier run wrote), and the truth into ``expected_file``.

    Raises:
        KeyError: a source has no measured verdict; run ``run_programs`` first.
    """
    for name in _WRITTEN:
        _remove(folder / name)
    expected = []
    for artifact in artifacts():
        _write(folder / artifact.path, artifact.content)
        attempt = artifact.attempt
        expected.append(
            {
                "participant": attempt.participant.name,
                "problem_id": attempt.problem_id,
                "turn": attempt.turn,
                "language": attempt.language,
                "verdict": artifact.verdict,
                "submitted_at": attempt.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "submission_id": artifact.submission_id,
                "source_sha256": attempt.source_sha256,
                "path": artifact.path,
            }
        )
    for path, content in prompt_log_files():
        _write(folder / path, content)
    for problem in problems().values():
        _write(folder / "problems" / f"{problem.problem_id}.md", problem.statement.encode())
    _write(folder / "contest.yaml", (MAKING / "layouts" / "contest.yaml").read_bytes())
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in expected]
    _write(expected_file, "".join(lines).encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    make_contest(CONTEST_DIR, EXPECTED_FILE)
