from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.backends.secrets import BLANK, Scrubber
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import SECRETS_FILE, KeyEnvironment, key_environment
from judge_pipeline.settings.workspace import CHECKPOINT_URL
from judge_pipeline.settings.yaml_file import SettingsError

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=("C", "Zs", "Zl", "Zp")), min_size=1, max_size=40)


def secrets_file(tmp_path: Path, text: str, mode: int = 0o600) -> Path:
    file = tmp_path / "secrets"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def read(path: Path, **environment: str) -> dict[str, str]:
    return dict(key_environment({SECRETS_FILE: str(path), **environment}))


def test_without_a_file_the_environment_is_as_it_is() -> None:
    environment = {"A_KEY": "from outside"}
    assert key_environment(environment) is environment


def test_lines_comments_quotes_and_equals_signs(tmp_path: Path) -> None:
    text = "\ufeff# keys\n\nexport A_KEY = \"sk one=two\" \nB_KEY='b'\nC_KEY=#no=comment#\r\nEMPTY=\n"
    found = read(secrets_file(tmp_path, text))
    assert {n: found[n] for n in ("A_KEY", "B_KEY", "C_KEY", "EMPTY")} == {
        "A_KEY": "sk one=two",
        "B_KEY": "b",
        "C_KEY": "#no=comment#",
        "EMPTY": "",
    }


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('A_KEY="x" # c', "x"),
        ("A_KEY='x'\t# c", "x"),
        ("A_KEY=x # c", "x"),
        ("A_KEY=sk one  # it's", "sk one"),
        ("A_KEY= # c", ""),
        ('A_KEY="" # c', ""),
        ('A_KEY="a # b" # "c"', "a # b"),
        ("A_KEY='a # b'", "a # b"),
        ("A_KEY=a#b", "a#b"),
        ("A_KEY=it's", "it's"),
        (r'A_KEY="say \"x\" \\ \n" # c', r'say "x" \ \n'),
        (r"A_KEY='a\b\"'", r"a\b\""),
    ],
)
def test_quotes_and_comments_are_read_as_a_shell_reads_them(tmp_path: Path, line: str, value: str) -> None:
    assert read(secrets_file(tmp_path, f"{line}\n"))["A_KEY"] == value


@pytest.mark.parametrize(
    "value", ['"hidden-value', "'hidden-value\" # c", '"hidden-value" more', r'"hidden-value\"', '"']
)
def test_a_quote_that_is_not_closed_is_named_and_the_value_never_shown(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError, match="line 2: the value of A_KEY begins with a quote") as error:
        read(secrets_file(tmp_path, f"B_KEY=x\nA_KEY={value}\n"))
    assert "hidden-value" not in str(error.value)


def test_what_the_environment_sets_goes_first_and_what_it_sets_to_nothing_does_not(tmp_path: Path) -> None:
    file = secrets_file(tmp_path, "A_KEY=file\nB_KEY=file\n")
    assert read(file, A_KEY="outside", B_KEY="")["A_KEY"] == "outside"
    assert read(file, A_KEY="outside", B_KEY="")["B_KEY"] == "file"


@given(st.dictionaries(NAMES, VALUES.filter(lambda value: value[0] not in "'\""), max_size=5))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]) -> None:
    lines = "".join(f"{name}={value}\n" for name, value in values.items())
    found = read(secrets_file(tmp_path_factory.mktemp("s"), lines))
    assert {name: found[name] for name in values} == values


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620])
def test_a_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    file = secrets_file(tmp_path, "A_KEY=hidden-value\n", mode)
    with pytest.raises(SettingsError, match=rf"mode {mode:04o}.*chmod 600") as error:
        read(file)
    assert "hidden-value" not in str(error.value)


@pytest.mark.parametrize("line", ["hidden-value", "1A=hidden-value", "A B=hidden-value", "=hidden-value"])
def test_a_line_that_is_none_is_named_by_number_and_never_shown(tmp_path: Path, line: str) -> None:
    with pytest.raises(SettingsError, match="line 2: is not NAME=value") as error:
        read(secrets_file(tmp_path, f"A_KEY=x\n{line}\n"))
    assert "hidden-value" not in str(error.value)


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="line 2: A_KEY is given twice"):
        read(secrets_file(tmp_path, "A_KEY=x\nA_KEY=y\n"))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"A=" + b"x" * (1 << 20)], ids=["no text", "too long"])
def test_what_is_no_secrets_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "secrets"
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(SettingsError, match=str(file)):
        read(file)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(SettingsError, match="is no plain file"):
        read(tmp_path / "pipe")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"unset {SECRETS_FILE}"):
        read(tmp_path / "missing")


def test_a_folder_has_a_file_a_secret(tmp_path: Path) -> None:
    """As Kubernetes mounts one: the files are links into a hidden folder."""
    folder, versions = tmp_path / "run", tmp_path / "run" / "..data"
    versions.mkdir(parents=True)
    (versions / "A_KEY").write_text("two words\n")
    (versions / "A_KEY").chmod(0o400)
    (folder / "A_KEY").symlink_to("..data/A_KEY")
    (folder / "read-me.txt").write_text("nobody's")
    folder.chmod(0o755)
    assert {name: value for name, value in read(folder).items() if name != SECRETS_FILE} == {"A_KEY": "two words"}
    (versions / "A_KEY").chmod(0o444)
    with pytest.raises(SettingsError, match="defaultMode: 0400"):
        read(folder)
    folder.chmod(0o700)
    assert read(folder)["A_KEY"] == "two words"


def test_a_printed_environment_shows_nothing(tmp_path: Path) -> None:
    found = key_environment({SECRETS_FILE: str(secrets_file(tmp_path, "A_KEY=hidden-value\n")), "B_KEY": "also-hidden"})
    assert "hidden" not in f"{found!r}{found}"


def test_every_value_of_the_file_is_blanked_whatever_it_is_called(tmp_path: Path) -> None:
    file = secrets_file(tmp_path, "HOOK=https://hooks.test/T123/B456\n")
    found = key_environment({SECRETS_FILE: str(file), "HOME_PAGE": "https://hooks.test/other"})
    assert isinstance(found, KeyEnvironment)
    scrubbed = Scrubber(found).error("POST https://hooks.test/T123/B456 failed; see https://hooks.test/other")
    assert scrubbed == f"POST {BLANK} failed; see https://hooks.test/other"


def test_the_checkpoint_url_may_stand_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://judge:password@db.test/checkpoint"
    monkeypatch.setenv(SECRETS_FILE, str(secrets_file(tmp_path, f"{CHECKPOINT_URL}={url}\n")))
    monkeypatch.delenv(CHECKPOINT_URL, raising=False)
    assert Workspace(tmp_path, tmp_path, tmp_path).checkpoint_url == url
    assert CHECKPOINT_URL not in os.environ


def test_keys_are_read_in_one_place() -> None:
    """Whoever asks the environment itself for a key does not find one of the secrets file."""
    package = Path(__file__).resolve().parents[2] / "judge_pipeline"
    wrong = re.compile(r"(missing_key|why_left_out|environment=|\.of)\(?[^)\n]*os\.environ|os\.environ[^\n]*key_env")
    found = [file.name for file in package.rglob("*.py") if wrong.search(file.read_text(encoding="utf-8"))]
    assert found == []
