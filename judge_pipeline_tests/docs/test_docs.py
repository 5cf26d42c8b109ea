"""The documents: their commands run, their links lead somewhere, and what follows from the code is up to date."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from judge_pipeline.cli.main import cli, main
from judge_pipeline_tests.mini_contest import MiniContest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md"), *(CHECKOUT / "judge_pipeline").rglob("README.md")]
)
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Would listen until it is stopped, ask a provider over the network, or need a browser (tested with the images).
NOT_RUN = (
    "judge-pipeline ui",
    "judge-pipeline run data/contests/my-contest --judges gpt-5.2",
    "judge-pipeline report my-contest --figures figures --format svg",
    "judge-pipeline preference my-choices --judges gpt-5-mini --limit 20",
)


def commands(page: Path) -> list[str]:
    lines = [
        line.partition("  #")[0].strip()
        for block in BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in block.splitlines()
    ]
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.slow
def test_what_follows_from_the_code_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate_reference.py", "--check"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_git_passes_over_the_folders_that_documents_make_in_the_checkout() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    made = {m[1] for line in lines if (m := re.match(r"(?:mkdir -p|judge-pipeline init) ([\w-]+)", line))}
    assert {"my-choices", "my-workspace"} <= made
    ignored = [
        line.strip("/") for line in (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    assert not [folder for folder in made if not any(fnmatchcase(folder, pattern) for pattern in ignored)]


def test_git_passes_over_what_people_bring_and_what_is_secret() -> None:
    """Contests, bundles and passwords lie where the documents say, and are not committed by a hasty ``git add``."""
    ignored = (CHECKOUT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/data/", ".env", "*-audit-redacted.zip", "*-audit-full.zip"} <= set(ignored)
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert all(named in text for named in ("data/contests/", "deploy/.env", "-audit-redacted.zip"))


def test_every_make_target_in_the_documents_exists() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    named = {word for line in lines for word in re.findall(r"(?<!rerate )\bmake ([a-z-]+)", line)}
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test", "ui"} <= named
    assert named <= targets


def test_every_command_in_the_documents_is_known() -> None:
    lines = [line for page in PAGES for line in commands(page) if line.startswith("judge-pipeline ")]
    assert len(lines) > 10
    for line in lines:
        command, words = cli, shlex.split(line)[1:]
        while hasattr(command, "get_command"):
            command, words = command.get_command(None, words[0]), words[1:]
            assert command is not None, line
        options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("-")} <= options | {"--help"}, line


@pytest.mark.slow
def test_the_tutorial_and_the_how_to_on_predictions_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every judge-pipeline command, in the order of the page; the contest's files come from the test."""
    monkeypatch.chdir(tmp_path)
    for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "predictions.csv").write_text(
        "attempt_id,judge,p_ac,y,split\n"
        + "".join(
            f"{i},J{j},{(i * 7 + j) % 10 / 10},{i % 2},{'val' if i < 10 else 'test'}\n"
            for i in range(20)
            for j in (1, 2)
        ),
        encoding="utf-8",
    )
    (tmp_path / "decisions.csv").write_text(
        "pair_id,judge,label,decision_ab,decision_ba\n"
        + "".join(f"{i},J{j},{'AB'[i % 2]},{'AB'[i * j % 2]},{'AB'[i % 3 % 2]}\n" for i in range(20) for j in (1, 3)),
        encoding="utf-8",
    )
    for name in ("old", "new"):
        (tmp_path / f"{name}.csv").write_bytes((tmp_path / "predictions.csv").read_bytes())
    ran = []
    pages = (
        "tutorial.md", "how-to/evaluate-predictions.md", "how-to/evaluate-preferences.md", "how-to/compare-two-runs.md",
        "how-to/check-whether-judges-can-be-talked-round.md", "how-to/publish-and-compare.md",
    )  # fmt: skip
    for page in pages:
        if "check-whether" in page:  # goes on where the tutorial ended
            monkeypatch.chdir(tmp_path / "my-workspace")
        for line in commands(CHECKOUT / "docs" / page):
            if line.startswith("cd "):
                monkeypatch.chdir(Path.cwd() / line[3:])
            elif line.startswith("export OPENAI_API_KEY"):
                monkeypatch.setenv("OPENAI_API_KEY", "no-key")
            elif line.startswith("judge-pipeline ") and line not in NOT_RUN:
                run(line, monkeypatch, capsys)
                ran.append(line)
                if " init " in line:
                    fill(tmp_path / "my-workspace" / "data" / "contests" / "my-contest", tmp_path / "made")
        monkeypatch.chdir(tmp_path)
    assert len(ran) >= 8


@pytest.mark.slow
def test_the_tutorial_on_preference_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its files are written by its own lines, then every judge-pipeline command runs."""
    monkeypatch.chdir(tmp_path)
    for name in ("JUDGE_PIPELINE_HOME", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUDGE_PIPELINE_OUT", str(tmp_path / "var"))
    page = CHECKOUT / "docs" / "tutorial-preference.md"
    ran = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        own = [line for line in block.splitlines() if not line.startswith(("judge-pipeline ", "make ", "export "))]
        subprocess.run(["bash", "-euc", "\n".join(own)], check=True, cwd=tmp_path)
        for line in block.splitlines():
            if line.startswith("export OPENAI_API_KEY"):
                monkeypatch.setenv("OPENAI_API_KEY", "no-key")
            elif line.startswith("judge-pipeline ") and line not in NOT_RUN:
                run(line, monkeypatch, capsys)
                ran.append(line)
    assert len(ran) == 4
    assert (tmp_path / "var" / "reports" / "my-choices" / "preference_report.html").is_file()


def fill(contest: Path, made: Path) -> None:
    """Put a small contest's files where the tutorial says that one's own go."""
    mini = MiniContest(made).lay(6, 4)
    for part in ("submissions", "prompts"):
        (contest / part).rmdir()
        (mini.folder / part).rename(contest / part)


def run(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    command = line.partition(" > ")[0].replace(",smollm2-135m", "")
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    # Without a key the default is this one and the embedded model, which takes its time.
    if line == "judge-pipeline run data/contests/my-contest":
        monkeypatch.setattr(sys, "argv", [*shlex.split(line), "--judges", "baseline-text"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 0, f"{line}\n{out}\n{err}"
