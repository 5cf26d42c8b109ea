"""Looks for what must not go out, in every byte that is written: keys, passwords, folders of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from judge_pipeline.orchestration.bundles.members import Member
from judge_pipeline.settings import JudgesFile, System, Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.workspace import CHECKPOINT_URL
from judge_pipeline.settings.yaml_file import SettingsError

_SHORTEST = 8
"""Shorter values stand in other words, too."""

_URL_WITH_PASSWORD = re.compile(rb"[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{1,100}:[^\s/@'\"]{1,200}@", re.IGNORECASE)
_WORDS = (re.compile(r"\w+"), re.compile(r"[\w.-]*\w"))
"""What a name may be taken for: the longest run of letters and digits, or with signs that stand in names."""

_OVERLAP = 4096
_FURTHER = (
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "JUDGE_PIPELINE_BROKER_URL", "JUDGE_PIPELINE_DAGSTER_URL",
    "JUDGE_PIPELINE_RESULTS_URL", "JUDGE_PIPELINE_SMTP_URL", "JUDGE_PIPELINE_WEBHOOK_URL", "OPENLINEAGE_API_KEY",
)  # fmt: skip
"""Variables that may hold a secret and belong to no judge."""


@dataclass(frozen=True)
class Search:
    """What is looked for.

    Attributes:
        secrets: the value -> what it is, in words. It is looked for in every file.
        folders: folders of this machine. They are looked for in all but raw files and answers, which are other
            people's words.
        names: people's, of a redacted bundle. They are looked for as whole words in all but pages, which are made from
            tables that hold none, and hold programs of others.
    """

    secrets: Mapping[str, str]
    folders: tuple[str, ...]
    names: frozenset[str] = frozenset()

    def of_file(self, member: Member) -> Looking:
        """Looks through one file; the columns of a Parquet file are read, since its bytes are packed.

        Raises:
            SettingsError: it holds what must not go out.
        """
        looking = Looking(self, member)
        if member.path.endswith(".parquet"):
            for text in _texts_of(member):
                looking.feed(text)
        return looking


class Looking:
    """Goes through one file's bytes; what lies across two blocks is found, too."""

    def __init__(self, search: Search, member: Member) -> None:
        self._member, self._rest = member, b""
        own_words = member.role in ("data", "answers")
        self._wanted = {value.encode(): words for value, words in search.secrets.items()}
        if not own_words:
            self._wanted |= {folder.encode(): "a folder of this machine" for folder in search.folders}
        self._names = frozenset() if member.path.endswith((".html", ".js")) else search.names
        self._urls = not own_words and not member.path.endswith(".html")

    def feed(self, block: bytes) -> None:
        """The next bytes.

        Raises:
            SettingsError: something that must not go out is in them.
        """
        text = self._rest + block
        for value, words in self._wanted.items():
            if value in text:
                raise SettingsError(self._found(words))
        if self._urls and _URL_WITH_PASSWORD.search(text):
            raise SettingsError(self._found("a URL with a password"))
        if self._names:
            shown = text.decode("utf-8", "ignore")
            found = self._names.intersection(word for words in _WORDS for word in words.findall(shown))
            if found:
                raise SettingsError(self._found(f"names of participants or annotators ({len(found)} of them)"))
        self._rest = text[-_OVERLAP:]

    def _found(self, words: str) -> str:
        return (
            f"{self._member.path} holds {words}, which must not go out: no bundle was written. Take it out of that "
            "file (or of what it is made from), run again, then bundle again"
        )


def search_for(workspace: Workspace, pseudonym_key: str) -> Search:
    """The keys of judges, pseudonyms, tombstones and stores that this process knows, and where the workspace lies.

    Args:
        workspace: the workspace.
        pseudonym_key: the environment variable that holds the key of pseudonyms.
    """
    environment = key_environment()
    found: dict[str, str] = {}
    for name, judge in key_variables(workspace.judges()).items():
        if value := environment.get(name):
            found[value] = f"the key of judge {judge} ({name})"
    for name in (pseudonym_key, *_FURTHER):
        if value := environment.get(name):
            found[value] = f"the value of {name}"
    if password := _password(environment.get(CHECKPOINT_URL)):
        found[password] = f"the password of {CHECKPOINT_URL}"
    with suppress(OSError):
        found[(workspace.store_dir / "tombstones" / "key").read_bytes().decode().strip()] = "the key of tombstones"
    folders = {workspace.config_dir.parent, workspace.data_dir, workspace.out_dir, Path.home()}
    return Search(
        {value: words for value, words in sorted(found.items()) if len(value) >= _SHORTEST},
        tuple(sorted(str(folder) for folder in folders if len(folder.parts) > 2)),
    )


def key_variables(judges: JudgesFile) -> dict[str, str]:
    """Environment variables that judges' keys are read from -> the last judge that reads it."""
    names = sorted({name for system in get_args(System) for name in judges.names(system)})
    found = {getattr(judges.get(name), "api_key_env", None): name for name in names}
    return {variable: judge for variable, judge in found.items() if variable is not None}


def _password(url: str | None) -> str | None:
    with suppress(ValueError):
        return urlsplit(url or "").password
    return None


def _texts_of(member: Member) -> Iterator[bytes]:
    """The texts of a Parquet file, a row group at a time, and what it says of itself."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with member.open() as source:
        try:
            file = pq.ParquetFile(source)
            for key, value in (file.schema_arrow.metadata or {}).items():
                yield key + b"=" + value + b"\n"
            columns = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
            for group in range(file.num_row_groups):
                for column in file.read_row_group(group, columns=columns).itercolumns():
                    yield _joined(column)
        except pa.ArrowException as error:
            raise SettingsError(f"{member.path} cannot be read ({error}); materialize its asset again") from None


def _joined(column: Any) -> bytes:
    return "\n".join(text for text in column.to_pylist() if text).encode("utf-8", "replace")
