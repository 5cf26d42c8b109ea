"""rubrics/*.yaml, checked: rubric items that people wrote, a set's rubric as a person edits it, and themes.

A rubric item has two poles: what it means to satisfy it (high) and what it means not to (low).
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator, model_validator

from judge_pipeline.settings.names import SLUG, SettingsModel
from judge_pipeline.settings.workspace import packaged_config_dir
from judge_pipeline.settings.yaml_file import SettingsError, load

FOLDER = "rubrics"
"""Where the files lie, below assets_config/."""

THEMES = "themes.yaml"
"""The file of themes, which is no rubric."""

LONGEST_TITLE_CHARS = 80
LONGEST_POLE_CHARS = 400


def _check_slug(name: str) -> None:
    if not SLUG.fullmatch(name):
        raise ValueError(
            f"{name!r} must be lower-case letters, digits, '-', '_' and '.', beginning with a letter or digit; what "
            "people read is its title"
        )


class RubricItem(SettingsModel):
    """One rubric item, as people write it."""

    title: str = Field(min_length=1, max_length=LONGEST_TITLE_CHARS, description="Its name for people")
    high: str = Field(min_length=1, max_length=LONGEST_POLE_CHARS, description="What it means to satisfy it")
    low: str = Field(min_length=1, max_length=LONGEST_POLE_CHARS, description="What it means not to satisfy it")
    theme: str | None = Field(default=None, description="Theme of themes.yaml that it belongs to; null: by its words")

    @field_validator("title", "high", "low")
    @classmethod
    def _one_line(cls, value: str) -> str:
        text = " ".join(value.split())
        if not text:
            raise ValueError("is blank; say in words what it means")
        return text


class RubricFile(SettingsModel):
    """A file of rubrics/: the items that people wrote."""

    title: str | None = Field(default=None, description="What these items are, for people")
    note: str | None = Field(default=None, description="Where they come from")
    items: dict[str, RubricItem] = Field(min_length=1, max_length=200, description="Item's slug -> the item")
    written_sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        description="In a file that a run wrote: sha256 of its items then. Leave it: by it a run knows an edit",
    )

    @field_validator("items")
    @classmethod
    def _slugs(cls, value: dict[str, RubricItem]) -> dict[str, RubricItem]:
        for name in value:
            _check_slug(name)
        return value

    @model_validator(mode="after")
    def _told_apart(self) -> RubricFile:
        seen: dict[str, str] = {}
        for name, item in self.items.items():
            title = item.title.lower()
            if title in seen:
                raise ValueError(f"items {seen[title]!r} and {name!r} have one title, {item.title!r}; change one")
            seen[title] = name
        return self


class Theme(SettingsModel):
    """A theme that rubric items of several sets may share."""

    title: str = Field(min_length=1, description="Its name for people")
    criterion: str | None = Field(
        default=None, min_length=1, description="Software-engineering criterion that it maps to; null: none"
    )
    stems: tuple[str, ...] = Field(
        default=(), description="Beginnings of words, in lower case, by which an item is recognised as of the theme"
    )

    @field_validator("stems")
    @classmethod
    def _beginnings(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [stem for stem in value if not stem.isalnum() or stem != stem.lower()]
        if wrong:
            raise ValueError(f"{', '.join(wrong)}: give beginnings of single words, in lower case, such as 'readab'")
        return value


class ThemesFile(SettingsModel):
    """assets_config/rubrics/themes.yaml."""

    themes: dict[str, Theme] = Field(min_length=1, description="Theme's slug -> the theme, in the order of tables")
    items: dict[str, dict[str, str]] = Field(
        default_factory=dict, description="Preference set -> item -> theme; goes before words and the rubric's own"
    )

    @field_validator("themes")
    @classmethod
    def _slugs(cls, value: dict[str, Theme]) -> dict[str, Theme]:
        for name in value:
            _check_slug(name)
        return value

    @model_validator(mode="after")
    def _known(self) -> ThemesFile:
        for name, of_set in self.items.items():
            for item, theme in of_set.items():
                if theme not in self.themes:
                    raise ValueError(
                        f"items.{name}.{item}: {theme!r} is no theme; use one of {', '.join(self.themes)}, or add it"
                    )
        return self


def read_human_rubric(config_dir: Path, name: str) -> RubricFile:
    """The file of that name in rubrics/ of the workspace, or the one that comes with the package.

    Raises:
        SettingsError: there is no such file, its name is a path, or it is wrong.
    """
    if Path(name).name != name or not name.endswith(".yaml") or name == THEMES:
        raise SettingsError(f"rubric.human_items {name!r} must be the name of a rubric's file in {config_dir / FOLDER}")
    own, packaged = config_dir / FOLDER / name, packaged_config_dir() / FOLDER / name
    if not own.is_file() and not packaged.is_file():
        folders = [folder / FOLDER for folder in (config_dir, packaged_config_dir())]
        there = sorted({file.name for folder in folders for file in folder.glob("*.yaml")} - {THEMES})
        raise SettingsError(f"{own}: there is no such rubric; there are {', '.join(there) or 'none'}")
    return load(RubricFile, own if own.is_file() else packaged)


def read_themes(config_dir: Path) -> ThemesFile:
    """The workspace's themes.yaml, or the one that comes with the package where it has none.

    Raises:
        SettingsError: the file is wrong.
    """
    own = config_dir / FOLDER / THEMES
    return load(ThemesFile, own if own.is_file() else packaged_config_dir() / FOLDER / THEMES)
