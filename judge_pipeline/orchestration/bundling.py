"""Making an audit bundle: what is in it, what is not and why, and the file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.bundles.contents import configuration, produced, raw_files
from judge_pipeline.orchestration.bundles.facts import ANSWERS, FACTS, README, BundleFacts, Kind
from judge_pipeline.orchestration.bundles.members import Member, in_order
from judge_pipeline.orchestration.bundles.readme import readme_text
from judge_pipeline.orchestration.bundles.secret_search import Search, key_variables, search_for
from judge_pipeline.orchestration.bundles.versions import code_sha256, version_files
from judge_pipeline.orchestration.bundles.withdrawn import withheld_for_the_withdrawn
from judge_pipeline.orchestration.contest_folders import contest_folder
from judge_pipeline.orchestration.exports import report_path
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.left_out import key_is_not_set
from judge_pipeline.orchestration.preference_sets import preference_folder
from judge_pipeline.orchestration.provenance import folder_sha256, report_code_version, set_sha256
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.bundle import Level
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import ATTEMPTS, JUDGE_COVERAGE, JUDGE_REQUESTS, PREFERENCE_PAIRS
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.row_lines import Asked

_BEFORE_ANY = "1980-01-01T00:00:00Z"
_KEYED = "personal data in texts were replaced under a key of pseudonyms, which does not go out"


@dataclass(frozen=True)
class PreparedBundle:
    """A bundle that can be listed, or written.

    Attributes:
        facts: what it says of itself.
        members: its files, in order, but for the manifests.
        published: the date of its newest data.
        search: what must not go out.
    """

    facts: BundleFacts
    members: Sequence[Member]
    published: str
    search: Search


def folder_of(workspace: Workspace, kind: Kind, name: str) -> Path:
    """The folder of the contest or set.

    Raises:
        SettingsError: there is none.
    """
    return contest_folder(workspace, name) if kind == "contest" else preference_folder(workspace, name)


def level_of(workspace: Workspace, kind: Kind, folder: Path) -> Level:
    """How much of it may go out, by its settings."""
    return (workspace.contest(folder) if kind == "contest" else workspace.preference(folder)).bundle


@contextmanager
def prepared_bundle(workspace: Workspace, kind: Kind, name: str) -> Iterator[PreparedBundle]:
    """Everything that goes into the full bundle of a contest or preference set; files are made in a temporary folder.

    Args:
        workspace: the workspace.
        kind: of what it is.
        name: the contest or set.

    Raises:
        SettingsError: it is unknown or was never read, its report was made by other sources of the program, somebody's
            withdrawal is not complete, or a file's name cannot be unpacked everywhere.
        JudgingError: the checkpoint cannot be read.
    """
    folder = folder_of(workspace, kind, name)
    if kind == "contest":
        _refuse_report_of_other_sources(workspace, name, folder)
    facts, may_go_out = full_facts(workspace, kind, name, folder)
    with tempfile.TemporaryDirectory(prefix="judge-pipeline-bundle-") as made_in:
        answers, published = write_answers(workspace, kind, name, Path(made_in), lambda asked: True)
        members = [
            *configuration(workspace, kind),
            *raw_files(workspace, facts, folder, may_go_out),
            *produced(workspace, facts),
            *answers,
        ]
        yield finished(workspace, facts, members, published)


def _refuse_report_of_other_sources(workspace: Workspace, contest: str, folder: Path) -> None:
    """The bundle says by which sources it was made; pages of others would be told from those that come out anew."""
    page = report_path(workspace, contest)
    if page.is_file() and report_code_version() not in page.read_text(encoding="utf-8"):
        raise SettingsError(
            f"the report of {contest} ({page}) was made by other sources of the program than these; make it again with "
            f"'judge-pipeline run {folder}' (what is stored is not asked again), then bundle it"
        )


def finished(workspace: Workspace, facts: BundleFacts, members: Sequence[Member], published: str) -> PreparedBundle:
    """The bundle with what it says of itself, and of versions.

    Raises:
        SettingsError: a file's name cannot be unpacked everywhere.
    """
    about = [Member(FACTS, "about", facts.to_json()), Member(README, "about", readme_text(facts).encode())]
    search = search_for(workspace, _pseudonym_key_name(workspace, facts))
    return PreparedBundle(facts, in_order([*members, *version_files(), *about]), published, search)


def write_answers(
    workspace: Workspace, kind: Kind, name: str, folder: Path, may_go_out: Callable[[Asked], bool]
) -> tuple[list[Member], str]:
    """Write what the checkpoint holds of the contest or set as JSON lines, a file a table.

    Args:
        workspace: the workspace.
        kind: of what.
        name: the contest or set.
        folder: where the files are made.
        may_go_out: of what is its own, whether it may be handed over.

    Returns:
        The files, and the time of the latest answer.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    from judge_pipeline.judging.checkpoint.row_lines import TABLES, lines_of
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.orchestration.bundles.asked_rows import newest, own_rows

    own = own_rows(workspace, kind, name)
    place = BundleFacts(kind, name, "full", "", "").place
    latest = _BEFORE_ANY
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        files = {table: (folder / f"{table}.jsonl").open("w", encoding="utf-8", newline="\n") for table in TABLES}
        try:
            for table, line in lines_of(checkpoint, lambda asked: own(asked) and may_go_out(asked), place):
                files[table].write(line + "\n")
                latest = max(latest, newest(table, line))
        finally:
            for file in files.values():
                file.close()
    return [Member(f"{ANSWERS}/{table}.jsonl", "answers", folder / f"{table}.jsonl") for table in TABLES], latest


def full_facts(workspace: Workspace, kind: Kind, name: str, folder: Path) -> tuple[BundleFacts, Callable[[str], bool]]:
    """What a full bundle would say of itself, and which raw files may go out: path relative to the folder -> whether.

    Raises:
        SettingsError: it was never read, or somebody's withdrawal is not complete.
    """
    root = ATTEMPTS if kind == "contest" else PREFERENCE_PAIRS
    if not store_of(workspace).path(root, name).is_file():
        raise SettingsError(f"{name} was never read: there is no table {root.name} of it; run it first")
    withheld = withheld_for_the_withdrawn(workspace, kind, name, folder)
    with open_instance(workspace) as instance:
        fingerprint = (folder_sha256 if kind == "contest" else set_sha256)(instance, name)
    keyed = {JUDGE_REQUESTS.name: _KEYED} if kind == "contest" and _is_keyed(workspace, name) else {}
    facts = BundleFacts(
        kind,
        name,
        "full",
        version("judge-pipeline"),
        code_sha256(),
        _keys_set(workspace, kind, name),
        {**withheld.why, **keyed},
        fingerprint,
        {"n_withdrawn": withheld.n_withdrawn, "raw_files_left_out": withheld.n_files},
    )
    return facts, withheld.may_go_out


def _keys_set(workspace: Workspace, kind: Kind, name: str) -> tuple[str, ...]:
    """The variables of keys that were set when the report was made: its coverage table says which were not.

    A bundle may be packed where other keys are set than where judges were asked, or none. Without that table: those
    that are set here.
    """
    variables, store = key_variables(workspace.judges()), store_of(workspace)
    coverage = JUDGE_COVERAGE if kind == "contest" else PAIR_JUDGE_COVERAGE
    if store.path(coverage, name).is_file():
        told = set(store.read(coverage, name)["reason"].dropna())
        return tuple(sorted(variable for variable in variables if key_is_not_set(variable) not in told))
    environment = key_environment()
    return tuple(sorted(variable for variable in variables if environment.get(variable)))


def _is_keyed(workspace: Workspace, contest: str) -> bool:
    """Whether requests hold pseudonyms made under a key: without it they cannot be made again."""
    store = store_of(workspace)
    if not store.path(JUDGE_REQUESTS, contest).is_file():
        return False
    requests = store.read(JUDGE_REQUESTS, contest)
    texts = (requests[column] for column in ("source_code", "prompt_text"))
    return any(bool(text.str.contains("[participant:", regex=False, na=False).any()) for text in texts)


def _pseudonym_key_name(workspace: Workspace, facts: BundleFacts) -> str:
    folder = folder_of(workspace, facts.kind, facts.name)
    settings = workspace.contest(folder) if facts.kind == "contest" else workspace.preference(folder)
    return settings.redaction.key_env
