"""A path in an object store (S3, and what else fsspec knows), with the methods of ``pathlib.Path`` that are used here.

It is imported only where an object store is in use: fsspec and the store's client take their time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import wraps
from typing import Any

from fsspec import AbstractFileSystem, get_filesystem_class
from upath.extensions import ProxyUPath

from judge_pipeline.settings.yaml_file import SettingsError

TRIES = 10
"""Tries of a request to S3, with growing pauses: a store that is gone for a minute is waited for. AWS_MAX_ATTEMPTS
says otherwise."""

_WORDS = {
    "read_bytes": "read", "read_text": "read", "open": "opened", "stat": "looked at", "exists": "looked at",
    "is_file": "looked at", "is_dir": "looked at", "unlink": "removed", "replace": "renamed", "iterdir": "listed",
    "glob": "listed", "rglob": "listed", "write_bytes": "written", "write_new": "written", "remove_all": "removed",
}  # fmt: skip
"""Method -> what an error says that it could not do."""


class StoreError(OSError):
    """The object store did not do what it was asked. The message names the object, the reason and the remedy."""


def object_path(url: str) -> ObjectPath:
    """The place in an object store that a URL names, such as ``s3://bucket/prefix``.

    Raises:
        SettingsError: the URL holds a user or a query, or the client of its kind of store is not installed.
    """
    protocol, _, rest = url.partition("://")
    if "@" in rest or "?" in rest:
        raise SettingsError(
            "the store's URL must hold no user, key or query: it is shown in logs. Keys come from the environment "
            "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
        )
    try:
        get_filesystem_class(protocol)
    except (ImportError, ValueError) as error:
        raise SettingsError(
            f"the store {url} cannot be used ({error}); for S3 install judge-pipeline[s3]; name a folder by its path"
        ) from None
    # What is listed is looked up each time: other machines write, too.
    options: dict[str, Any] = {"use_listings_cache": False}
    if protocol in ("s3", "s3a"):
        options["config_kwargs"] = {"retries": _retries(os.environ)}
    return ObjectPath(url.rstrip("/"), **options)


class ObjectPath(ProxyUPath):
    """A place in an object store.

    Objects are replaced whole or not at all, by the store. Folders are prefixes and need not be made.
    """

    __slots__ = ()

    @property
    def fs(self) -> AbstractFileSystem:
        """The client of the store."""
        return self.__wrapped__.fs

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Whether there is such an object, or one below. A store that does not answer is an error, never a no."""
        return self._kind() is not None

    def is_file(self) -> bool:
        """Whether there is such an object."""
        return self._kind() == "file"

    def is_dir(self) -> bool:
        """Whether there is an object below this place."""
        return self._kind() == "directory"

    def is_symlink(self) -> bool:
        """An object store has none."""
        return False

    def iterdir(self) -> Iterator[ObjectPath]:
        """What lies right below this place.

        Raises:
            FileNotFoundError: nothing does.
        """
        return iter([self / str(name).rstrip("/").rpartition("/")[2] for name in self.fs.ls(self.path, detail=False)])

    def glob(self, pattern: str, **_: Any) -> Iterator[ObjectPath]:
        """What lies right below this place with a name like the pattern, which holds no slash."""
        try:
            below = list(self.iterdir())
        except FileNotFoundError:
            below = []
        return iter([path for path in below if fnmatchcase(path.name, pattern)])

    def rglob(self, pattern: str, **_: Any) -> Iterator[ObjectPath]:
        """Every object below this place, at any depth, with a name like the pattern. Prefixes are not among them."""
        own = str(self.fs._strip_protocol(self.path)).rstrip("/") + "/"
        names = [str(name).removeprefix(own) for name in self.fs.find(self.path)]
        return iter([self / name for name in names if fnmatchcase(name.rpartition("/")[2], pattern)])

    def read_bytes(self) -> bytes:
        """The object's bytes, in one request."""
        return bytes(self.fs.cat_file(self.path))

    def write_bytes(self, data: bytes) -> int:
        """Replace the object."""
        self.fs.pipe_file(self.path, data)
        return len(data)

    def write_new(self, data: bytes) -> bool:
        """Make the object unless it is there; whether this call made it. Of two at once one does."""
        try:
            self.fs.pipe_file(self.path, data, mode="create")
        except FileExistsError:
            return False
        except OSError:
            if self.is_file():  # stores have words of their own for it
                return False
            raise
        return True

    def replace(self, target: ObjectPath) -> ObjectPath:  # type: ignore[override]
        """Move the object over another: copied, then removed."""
        self.fs.cp_file(self.path, target.path)
        self.unlink()
        return target

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the object."""
        if self.is_file():
            self.fs.rm_file(self.path)  # ``rm`` would take a name with brackets for a pattern
        elif not missing_ok:
            raise FileNotFoundError(str(self))

    def remove_all(self) -> None:
        """Remove every object below this place."""
        for name in self.fs.find(self.path):
            self.fs.rm_file(name)

    def _kind(self) -> str | None:
        try:
            return str(self.fs.info(self.path)["type"])
        except FileNotFoundError:
            return None


def _retries(environment: Mapping[str, str]) -> dict[str, Any]:
    tries = environment.get("AWS_MAX_ATTEMPTS", "")
    return {
        "mode": environment.get("AWS_RETRY_MODE") or "standard",
        "total_max_attempts": int(tries) if tries.isdecimal() else TRIES,
    }


def _named(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The method, whose errors name the object and the remedy; what is not there stays FileNotFoundError."""

    @wraps(method)
    def named(self: ObjectPath, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except (FileNotFoundError, StoreError):
            raise
        except Exception as error:
            said = " ".join(f"{error.__class__.__name__}: {error}".split())
            raise StoreError(
                f"{self} cannot be {_WORDS[name]} ({said}). See whether the store runs, what AWS_ENDPOINT_URL and "
                "JUDGE_PIPELINE_STORE_URL say, and whether the keys in the environment let this user in; then run "
                "again: answers are in the checkpoint, and none is asked for twice"
            ) from error

    return named


for _name in _WORDS:
    setattr(ObjectPath, _name, _named(getattr(ObjectPath, _name), _name))
