"""Making guidance from a set's training pairs, and reading what a configuration is given: engine, files, leak check."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.judging_configuration import configuration_sha256
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, Workspace, packaged_config_dir
from judge_pipeline.settings.guidance import FOLDER, GuidanceFile
from judge_pipeline.settings.yaml_file import SettingsError, load
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables.guidance import GUIDANCE

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.asking import Ask
    from judge_pipeline.criteria.guidance_records import Record, TrainingPairs
    from judge_pipeline.criteria.guidance_synthesis import Between, Synthesized
    from judge_pipeline.orchestration.set_asking import SetAsking
    from judge_pipeline.settings.criteria import CriteriaFile, GuidanceUse

CONFIGURATIONS_TAG = "judge_pipeline/configurations"
"""Tag of a run: the configurations that guidance is made for, separated by commas."""

AskOf = Callable[[str], "Ask"]
"""A judge's name -> who asks it."""


def guidance_configuration_sha256(workspace: Workspace) -> str:
    """The sha256 of all that the configuration says about guidance: what judges are asked, and how it is synthesized.

    Raises:
        SettingsError: judges.yaml or criteria.yaml is wrong.
    """
    criteria = workspace.criteria()
    asked = criteria.model_dump(
        mode="json", include={"guidance_tokens", "guidance", "context_chars", "response_chars", "run"}
    )
    asked |= {name: own.model_dump(mode="json", include={"guidance"}) for name, own in criteria.configurations.items()}
    digest = hashlib.sha256(configuration_sha256(workspace, "criteria").encode())
    digest.update(json.dumps(asked, sort_keys=True).encode())
    for file in sorted((workspace.config_dir / "prompts").glob("guidance_*.j2")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class GuidanceMade:
    """What making guidance for one judge of one set came to.

    Attributes:
        made: what each synthesizer made, in the order of their names; without what may not be used.
        records: synthesizer -> all training records.
        files: synthesizer -> its frozen file.
        leaks: why guidance must not be used, and was not written.
        cannot_write: why a synthesizer was not asked.
    """

    made: Sequence[Synthesized]
    records: Mapping[str, Sequence[Record]]
    files: Mapping[str, Path]
    leaks: Sequence[str]
    cannot_write: Sequence[str]


def configurations_of(tags: Mapping[str, str]) -> tuple[str, ...] | None:
    """The configurations that the run's tags name; None where they name none."""
    named = tags.get(CONFIGURATIONS_TAG)
    return None if named is None else tuple(name.strip() for name in named.split(",") if name.strip())


def synthesizers_of(
    criteria: CriteriaFile, judge: str, preference_set: str, named: Collection[str] | None = None,
    stored: Collection[str] = (),
) -> dict[str, list[str]]:  # fmt: skip
    """Who has to synthesize guidance for the judge from the set -> the configurations that ask for it.

    Ready-made files and guidance from another set are only read.

    Args:
        criteria: criteria.yaml.
        judge: the judge.
        preference_set: the set.
        named: the configurations that are to be judged; None: those that ``run`` names for the judge, all where it
            names none.
        stored: who has synthesized guidance already: it stays as long as any configuration asks for it.

    Raises:
        SettingsError: a configuration is not in criteria.yaml.
    """
    wanted = criteria.run.get(judge, tuple(criteria.configurations)) if named is None else named
    if unknown := sorted(set(wanted) - criteria.configurations.keys()):
        known = ", ".join(criteria.configurations)
        raise SettingsError(f"configuration {', '.join(unknown)} is not in criteria.yaml; it lists: {known}")
    found: dict[str, list[str]] = {}
    for name, configuration in criteria.configurations.items():
        use = configuration.guidance
        if use is None or use.file is not None or use.from_set not in (None, preference_set):
            continue
        if name in wanted or (use.synthesizer or judge) in stored:
            found.setdefault(use.synthesizer or judge, []).append(name)
    return dict(sorted(found.items()))


def asks_of(asking: SetAsking) -> AskOf:
    """Judges of the workspace, asked through the engine about the set.

    Raises:
        SettingsError: a judge is unknown, or of a backend that answers no questions.
    """
    workspace = asking.context.resources.workspace.workspace()

    def ask_of(judge: str) -> Ask:
        settings = questioned_settings(workspace, judge)
        return lambda _stage, question, rows: asking.all_answers(judge, settings, question, rows)

    return ask_of


def questioned_settings(workspace: Workspace, judge: str) -> LitellmJudge | EmbeddedJudge:
    """The settings of a judge that can be asked a question.

    Raises:
        SettingsError: there is no such judge, or none that answers questions.
    """
    settings = workspace.judges().get(judge)
    if not isinstance(settings, LitellmJudge | EmbeddedJudge):
        raise SettingsError(
            f"judge {judge!r} is of backend {settings.backend}, which answers no questions about criteria; name one of "
            "backend litellm or embedded in criteria.yaml"
        )
    return settings


def make_guidance(
    workspace: Workspace, judge: str, training: TrainingPairs, splits: pd.DataFrame, seed: int, ask_of: AskOf,
    named: Collection[str] | None = None,
) -> GuidanceMade:  # fmt: skip
    """Guidance for the judge by each synthesizer that configurations ask for, frozen in files.

    The judge is asked for its own choices once, each synthesizer for rationales of all training pairs and for guidance.

    Args:
        workspace: its settings, and where files lie: ``<out>/guidance/<set>/``.
        judge: the judge whose gaps are found.
        training: the set's training pairs.
        splits: table PREFERENCE_SPLITS, for the leak check; nothing else of it is read.
        seed: draws records where not all fit.
        ask_of: who asks whom.
        named: the configurations that are to be judged. Beside what these ask for, guidance that is stored stays. None:
            those under ``run`` (:func:`synthesizers_of`).

    Raises:
        JudgingError: answers are missing that a provider failed to bring.
        SettingsError: the judge answers no questions, or a configuration is unknown.
    """
    from judge_pipeline.criteria.guidance_file import leak_in_words
    from judge_pipeline.criteria.guidance_records import human_rationales, monolithic_answers, training_records
    from judge_pipeline.criteria.guidance_synthesis import Limits, synthesized_guidance

    criteria, name = workspace.criteria(), training.preference_set
    wanted = synthesizers_of(criteria, judge, name, named, () if named is None else _stored(workspace, judge, name))
    unable = {each: why for each in wanted if (why := _cannot_write(workspace, each, wanted[each])) is not None}
    made: list[Synthesized] = []
    records: dict[str, Sequence[Record]] = {}
    files: dict[str, Path] = {}
    leaks = []
    able = [each for each in wanted if each not in unable]
    decisions = monolithic_answers(training, ask_of(judge)) if able else None
    for synthesizer in able:
        ask = ask_of(synthesizer)
        rationales = human_rationales(training, ask)
        own = training_records(training, decisions, rationales, criteria.guidance.record_chars)
        tokens = criteria.guidance.tokens_of.get(synthesizer, criteria.guidance_tokens)
        limits = Limits(tokens, criteria.guidance.category_records, seed)
        result = synthesized_guidance(_between(workspace, name, judge, synthesizer), own, limits, ask)
        leak = None if result.file is None else leak_in_words(result.file, name, splits)
        if leak is not None:
            leaks.append(f"{synthesizer}: {leak}")
            continue
        made.append(result)
        records[synthesizer] = own
        if result.file is not None:
            files[synthesizer] = _written(workspace, result.file)
    return GuidanceMade(made, records, files, leaks, tuple(unable.values()))


def _stored(workspace: Workspace, judge: str, preference_set: str) -> list[str]:
    """Who has synthesized guidance for the judge from the set before."""
    with suppress(FileNotFoundError, TableError):
        return sorted(store_of(workspace).read(GUIDANCE, preference_set, judge)["synthesizer"].unique())
    return []


def _cannot_write(workspace: Workspace, synthesizer: str, configurations: Sequence[str]) -> str | None:
    """Why it is not asked to write guidance; None where it is."""
    remedy = "name a judge of backend litellm as guidance.synthesizer, or a ready-made guidance.file, in criteria.yaml"
    try:
        settings = questioned_settings(workspace, synthesizer)
    except SettingsError as error:
        return f"for {', '.join(configurations)}: {error}"
    if isinstance(settings, EmbeddedJudge):
        weak = f"{synthesizer!r} is the embedded model, which is too weak to write guidance"
        return f"for {', '.join(configurations)}: {weak}; {remedy}"
    return None


def _between(workspace: Workspace, preference_set: str, judge: str, synthesizer: str) -> Between:
    from judge_pipeline.criteria.guidance_questions import QUESTIONS
    from judge_pipeline.criteria.guidance_synthesis import Between
    from judge_pipeline.criteria.questions import MONOLITHIC

    prompts_dir = workspace.config_dir / "prompts"
    judged_by, written_by = questioned_settings(workspace, judge), questioned_settings(workspace, synthesizer)
    templates = [MONOLITHIC.load_template(judged_by, prompts_dir)]
    templates += [question.load_template(written_by, prompts_dir) for question in QUESTIONS]
    return Between(
        preference_set, judge, _model(judged_by), synthesizer, _model(written_by),
        {template.name: template.sha256 for template in templates},
    )  # fmt: skip


def _model(settings: LitellmJudge | EmbeddedJudge) -> str:
    from judge_pipeline.judging.backends.embedded_backend import MODEL

    return MODEL if isinstance(settings, EmbeddedJudge) else settings.model


def guidance_folder(workspace: Workspace, preference_set: str) -> Path:
    """Where frozen guidance from the set lies."""
    return workspace.store_dir / FOLDER / preference_set


def _written(workspace: Workspace, guidance: GuidanceFile) -> Path:
    """The file of synthesized guidance, whole; an edited file of its name is kept beside it."""
    from judge_pipeline.criteria.guidance_file import file_name, file_text

    assert guidance.source is not None
    path = guidance_folder(workspace, guidance.source.preference_set) / file_name(guidance)
    text = file_text(guidance).encode()
    if path.is_file() and path.read_bytes() != text:
        path.replace(path.with_suffix(".edited.yaml"))
    return write_whole(path, text)


def guidance_in_force(
    workspace: Workspace, use: GuidanceUse, judge: str, preference_set: str, splits: pd.DataFrame
) -> GuidanceFile:
    """The guidance that a configuration's stages are given when the judge judges pairs of the set.

    Args:
        workspace: where files and tables lie.
        use: what the configuration asks for.
        judge: the judge.
        preference_set: the set.
        splits: its table PREFERENCE_SPLITS.

    Raises:
        GuidanceError: there is none, it was edited after it was frozen, or a pair that is judged is among its records.
        SettingsError: the file is wrong.
    """
    from judge_pipeline.criteria.guidance_file import GuidanceError, file_name, leak_in_words, verified

    path = _made(workspace, use, judge, preference_set) if use.file is None else _ready_made(workspace, use.file)
    guidance = verified(load(GuidanceFile, path), str(path))
    if use.file is None and file_name(guidance) != path.name:
        raise GuidanceError(
            f"{path}: is not what was frozen under this name. Materialize asset guidance to have that again; to use "
            f"this one, move it to {workspace.config_dir / FOLDER} and name it as guidance.file in criteria.yaml"
        )
    leak = leak_in_words(guidance, preference_set, splits)
    if leak is not None:
        raise GuidanceError(f"{path}: {leak}")
    return guidance


def _ready_made(workspace: Workspace, name: str) -> Path:
    """The file of that name in guidance/ of the workspace, or the one that comes with the package."""
    if Path(name).name != name or not name.endswith(".yaml"):
        raise SettingsError(f"guidance.file {name!r} must be the name of a file in {workspace.config_dir / FOLDER}")
    folders = [folder / FOLDER for folder in (workspace.config_dir, packaged_config_dir())]
    for folder in folders:
        if os.path.lexists(folder / name):
            return folder / name
    there = sorted({file.name for folder in folders for file in folder.glob("*.yaml")})
    raise SettingsError(f"{folders[0] / name}: there is no such guidance; there are {', '.join(there) or 'none'}")


def _made(workspace: Workspace, use: GuidanceUse, judge: str, preference_set: str) -> Path:
    """The frozen file that asset ``guidance`` made last."""
    from judge_pipeline.criteria.guidance_file import GuidanceError

    source, synthesizer = use.from_set or preference_set, use.synthesizer or judge
    remedy = (
        f"materialize asset guidance of {judge}|{source}, with the configuration under run: {judge} of criteria.yaml; "
        "or name a ready-made guidance.file"
    )
    try:
        table = store_of(workspace).read(GUIDANCE, source, judge)
    except FileNotFoundError:
        raise GuidanceError(f"guidance for {judge} from {source} was never made: {remedy}") from None
    own = table[table["synthesizer"] == synthesizer]
    if own.empty:
        raise GuidanceError(f"there is no guidance for {judge} by {synthesizer} from {source}: {remedy}")
    path = guidance_folder(workspace, source) / Path(str(own["file"].iloc[0])).name
    if not path.is_file():
        raise GuidanceError(f"{path}: the frozen guidance is gone: {remedy}")
    return path
