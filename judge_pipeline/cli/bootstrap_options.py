"""The options of commands that draw a bootstrap: its seed, and how often it draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def bootstrap_options(command: _Command) -> _Command:
    """Give a command ``--seed`` and ``--resamples``, as its arguments ``seed`` and ``resamples``."""
    seed = click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the bootstrap."
    )
    resamples = click.option(
        "--resamples",
        type=click.IntRange(min=1),
        default=2000,
        show_default=True,
        help="Resamples behind each interval.",
    )
    return seed(resamples(command))
