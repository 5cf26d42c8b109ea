"""``ro-crate-metadata.json``: what a bundle holds, for machines, after RO-Crate 1.2 (https://w3id.org/ro/crate/1.2)."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from judge_pipeline.orchestration.bundles.facts import CRATE, MANIFEST, BundleFacts
from judge_pipeline.orchestration.bundles.members import ROLES, Role

VERSION = "1.2"
_PACKAGE = "#judge-pipeline"
_MEDIA_TYPES = {
    ".parquet": "application/vnd.apache.parquet", ".jsonl": "application/jsonl", ".yaml": "application/yaml",
    ".j2": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".json": "application/json",
    ".html": "text/html", ".txt": "text/plain",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Described:
    """What the crate says of one file.

    Attributes:
        path: where it lies in the bundle.
        role: what it is for.
        sha256: in hexadecimal digits.
        n_bytes: its size.
    """

    path: str
    role: Role
    sha256: str
    n_bytes: int


def crate_json(facts: BundleFacts, files: Iterable[Described], published: str) -> bytes:
    """The crate's metadata file; the same files and facts give the same bytes.

    Args:
        facts: what the bundle is of.
        files: every other file but the manifest, which is described without a sha256: it holds the crate's.
        published: the date that it states, as ISO 8601.
    """
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    crate = ROCrate(version=VERSION)
    what = "contest" if facts.kind == "contest" else "preference set"
    crate.name = f"Audit bundle of {what} {facts.name}"
    crate.description = (
        f"What the figures of {what} {facts.name} rest on, {facts.level}: "
        + "; ".join(ROLES.values())
        + f". Checked by 'judge-pipeline verify', or by 'sha256sum -c {MANIFEST}'."
    )
    crate.datePublished = published
    crate.license = "As its owners say; this file grants no right to use data of people."
    software = {"@type": "SoftwareApplication", "name": "judge-pipeline", "softwareVersion": facts.version}
    crate.add(ContextEntity(crate, _PACKAGE, properties=software))
    crate.root_dataset["creator"] = {"@id": _PACKAGE}
    graph = crate.metadata.generate()
    # The package adds a file in a time that grows with those that there are: of many thousands, hours.
    own = [*map(_entity, files), _entity_of(MANIFEST, encodingFormat="text/plain")]
    root = next(entity for entity in graph["@graph"] if entity["@id"] == "./")
    root["hasPart"] = sorted(({"@id": entity["@id"]} for entity in own), key=lambda part: part["@id"])
    graph["@graph"] = sorted([*graph["@graph"], *own], key=lambda entity: (entity["@id"] != CRATE, str(entity["@id"])))
    return (json.dumps(graph, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _entity(each: Described) -> dict[str, Any]:
    return _entity_of(
        each.path,
        description=ROLES[each.role],
        contentSize=str(each.n_bytes),
        sha256=each.sha256,
        encodingFormat=_media_type(each.path),
    )


def _entity_of(path: str, **properties: str) -> dict[str, Any]:
    return {"@id": quote(path), "@type": "File", "name": path.rpartition("/")[2], **properties}


def _media_type(path: str) -> str:
    suffix = "." + path.rpartition(".")[2].lower()
    return _MEDIA_TYPES.get(suffix) or mimetypes.guess_type(path, strict=True)[0] or "application/octet-stream"


def crate_problems(text: bytes, sha256_of: Mapping[str, str]) -> list[str]:
    """What is wrong with a crate: it must describe every file of the manifest with the manifest's sha256, and no other.

    Args:
        text: the metadata file.
        sha256_of: path -> sha256 by the manifest.
    """
    try:
        entities = {str(entity["@id"]): entity for entity in json.loads(text)["@graph"]}
        root, descriptor = entities["./"], entities[CRATE]
        about, conforms = descriptor["about"]["@id"], descriptor["conformsTo"]["@id"]
        parts = {unquote(str(part["@id"])): entities[str(part["@id"])] for part in root["hasPart"]}
        stated = {path: part.get("sha256") for path, part in parts.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return [f"{CRATE} is no RO-Crate: {type(error).__name__}: {error}"]
    problems = [] if about == "./" else [f"{CRATE} describes {about!r}, not this folder"]
    if not str(conforms).startswith("https://w3id.org/ro/crate/"):
        problems.append(f"{CRATE} conforms to {conforms!r}, which is no RO-Crate")
    own = {path: sha256 for path, sha256 in sha256_of.items() if path != CRATE}
    problems += [f"{CRATE} does not describe {path}" for path in sorted(own.keys() - stated.keys())]
    problems += [
        f"{CRATE} describes {path}, which is not there" for path in sorted(stated.keys() - own.keys() - {MANIFEST})
    ]
    problems += [
        f"{CRATE} states another sha256 of {path} than {MANIFEST}"
        for path in sorted(own.keys() & stated.keys())
        if stated[path] != own[path]
    ]
    return problems
