"""Where keys are read: the environment, and under it the file or folder that JUDGE_PIPELINE_SECRETS_FILE names.

What is read from there is in no process's environment, so that no child inherits it, and is neither logged nor stored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from judge_pipeline.settings.yaml_file import SettingsError

SECRETS_FILE = "JUDGE_PIPELINE_SECRETS_FILE"
"""Environment variable that names the file, or a folder of files (Docker's and Kubernetes' secrets)."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"""(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')(?:\s+\#.*)?""")
_ESCAPED = re.compile(r"""\\(["\\])""")
_COMMENT = re.compile(r"\s\#.*")
_LONGEST_BYTES = 1 << 20
_OTHERS = 0o077


class KeyEnvironment(Mapping[str, str]):
    """The environment with the secrets under it; shows no value of either when it is printed.

    Attributes:
        secret_names: the names that the secrets file gives, whatever they are called.
    """

    def __init__(self, environment: Mapping[str, str], secrets: Mapping[str, str]) -> None:
        self._values = {**secrets, **{name: v for name, v in environment.items() if v or name not in secrets}}
        self.secret_names = frozenset(secrets)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"KeyEnvironment({len(self)} names)"


def key_environment(environment: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """The environment, and what the secrets file says of names that it does not set. Read anew each time.

    Raises:
        SettingsError: the file is not there, can be read by others, or a line of it is no ``NAME=value`` or does not
            close a quote. No message shows a value.
    """
    named = environment.get(SECRETS_FILE)
    if not named:
        return environment
    path = Path(named)
    if path.is_dir():
        return KeyEnvironment(environment, _of_folder(path))
    return KeyEnvironment(environment, _of_lines(path, _read(path)))


def _of_folder(folder: Path) -> dict[str, str]:
    """A file a secret, called like the variable; hidden files and those that are called otherwise are none."""
    closed = os.name != "posix" or not folder.stat().st_mode & _OTHERS
    files = [file for file in sorted(folder.iterdir()) if _NAME.fullmatch(file.name) and file.is_file()]
    return {file.name: _read(file, closed=closed).rstrip("\r\n") for file in files}


def _of_lines(path: Path, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip().removeprefix("export ").strip()
        if not bare or bare.startswith("#"):
            continue
        name, equals, value = bare.partition("=")
        name = name.strip()
        if not equals or not _NAME.fullmatch(name):
            raise SettingsError(
                f"{path}, line {number}: is not NAME=value (not shown: it may be a secret); write a variable's name, "
                "an equals sign and the value, one a line"
            )
        if name in found:
            raise SettingsError(f"{path}, line {number}: {name} is given twice; keep one of the lines")
        told = _value(value)
        if told is None:
            raise SettingsError(
                f"{path}, line {number}: the value of {name} begins with a quote and does not end with one (not shown: "
                "it may be a secret); close it, with nothing behind but a space and a # comment; a quote that belongs "
                "to the value stands within quotes of the other kind"
            )
        found[name] = told
    return found


def _value(text: str) -> str | None:
    """What stands behind the equals sign, as a shell and python-dotenv read it; None where a quote is not closed.

    A comment begins with a # behind white space, outside quotes. Within double quotes ``\\"`` and ``\\\\`` stand for
    the second sign; nothing else is replaced.
    """
    bare = text.strip()
    if not bare.startswith(("'", '"')):
        return _COMMENT.sub("", text, count=1).strip()
    quoted = _QUOTED.fullmatch(bare)
    if quoted is None:
        return None
    single = quoted["single"]
    return _ESCAPED.sub(r"\1", quoted["double"]) if single is None else str(single)


def _read(path: Path, *, closed: bool = False) -> str:
    """The text of a file that only its owner may read; ``closed``: nobody else comes into its folder."""
    try:
        if not path.is_file() and path.exists():  # opening a pipe would wait for whoever writes into it
            raise SettingsError(f"{path}: is no plain file, which is read anew whenever a key is needed; name a file")
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and mode & _OTHERS and not closed:
                raise SettingsError(
                    f"{path}: others than its owner may read or write it (mode {mode & 0o777:04o}); close it with "
                    f"'chmod 600 {path}' (mode: 0400 of Docker's secrets, defaultMode: 0400 of Kubernetes')"
                )
            data = file.read(_LONGEST_BYTES + 1)
        if len(data) > _LONGEST_BYTES:
            raise SettingsError(
                f"{path}: is longer than {_LONGEST_BYTES} bytes; {SECRETS_FILE} must name a secrets file"
            )
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: is not UTF-8 text; save it as such") from None
    except OSError as error:
        raise SettingsError(
            f"{path}: the secrets file cannot be read ({error.strerror}); mend it, or unset {SECRETS_FILE}"
        ) from None
