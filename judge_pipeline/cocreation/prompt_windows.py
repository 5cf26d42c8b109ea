"""What a participant asked between two attempts: h_{u,p,k} (paper 1, eq. 5 and 30).

h_{u,p,k} is made of the prompts of u whose known time lies in (t_{k-1}, t_k], and that belong to p by the name of their
log or by mention; at turn 1 it reaches back without end. It is never Q_u, which is the same at every turn. Where times
are unknown it is null.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.null_reasons import first_reason
from judge_pipeline.cocreation.prompt_problems import ProblemNames
from judge_pipeline.ingest.chat_formats.chat import NOT_TYPED
from judge_pipeline.ingest.turns import natural_key
from judge_pipeline.tables.revision import PROMPT_WINDOWS

Mentions = Literal["message", "conversation"]
"""``message``: a prompt belongs to the problems that it mentions itself. ``conversation``: one that mentions none
belongs to those mentioned last before it in its conversation."""

SEPARATOR = "\n\n"
NO_ALIGNMENT = "no time alignment"
_GROUP = ["participant", "problem_id"]


def prompt_texts(
    attempts: pd.DataFrame,
    prompt_logs: pd.DataFrame,
    *,
    problem_names: Mapping[str, str] | None = None,
    mentions: Mentions = "message",
) -> pd.DataFrame:
    """h_{u,p,k} of each attempt.

    Messages without text, those that a client wrote in the participant's place, and all that is not a prompt are left
    out. A prompt that belongs to p and has no time could lie in any window, so it makes all of its trajectory's null.

    Args:
        attempts: table ATTEMPTS.
        prompt_logs: table PROMPT_LOGS.
        problem_names: further names of problems -> problem id.
        mentions: how far a mention reaches.

    Returns:
        A row an attempt, in their order: ``attempt_id``, ``text`` (h, '' where nothing was asked; None where it is
        unknown), ``n_prompts`` (<NA> then) and ``reason``.
    """
    prompts = _prompts_of_problems(attempts, prompt_logs, problem_names, mentions)
    windows = _windows(attempts)
    timed = prompts[prompts["at"].notna()]
    placed = pd.merge_asof(
        timed.sort_values("at", kind="stable"),
        windows[[*_GROUP, "submitted_at", "row"]].dropna(subset="submitted_at").sort_values(["submitted_at", "row"]),
        left_on="at", right_on="submitted_at", by=_GROUP, direction="forward",
    ).dropna(subset="row")  # fmt: skip
    placed = placed.sort_values(["row", "at", "rank"], kind="stable")
    asked = placed.groupby(placed["row"].astype(np.int64))["text"].agg(SEPARATOR.join)
    counts = placed.groupby(placed["row"].astype(np.int64)).size()
    untimed = prompts[prompts["at"].isna()].groupby(_GROUP).size().rename("n_untimed")
    windows = windows.join(untimed, on=_GROUP).fillna({"n_untimed": 0}).set_index("row").sort_index()
    reason = _reasons(windows, set(prompt_logs["participant"]))
    text = asked.reindex(windows.index).astype("object")
    text = text.where(text.notna(), "").where(reason.isna(), None)
    n_prompts = counts.reindex(windows.index).fillna(0).astype("Int64").where(reason.isna())
    return pd.DataFrame(
        {"attempt_id": attempts["attempt_id"].to_numpy(), "text": text.to_numpy(), "n_prompts": n_prompts.array,
         "reason": reason.to_numpy()}
    )  # fmt: skip


def prompt_windows(texts: pd.DataFrame) -> pd.DataFrame:
    """The table ``prompt_windows``: how much was asked before each attempt, without the words themselves.

    Args:
        texts: of ``prompt_texts``.
    """
    known = texts["text"].notna()
    hashes = [None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest() for text in texts["text"]]
    return PROMPT_WINDOWS.conform(
        pd.DataFrame(
            {
                "attempt_id": texts["attempt_id"],
                "n_prompts": texts["n_prompts"],
                "text_sha256": pd.Series(hashes, dtype="object", index=texts.index),
                "n_chars": texts["text"].str.len().astype("Int64").where(known),
                "reason": texts["reason"],
            }
        )
    )


def first_prompts(
    attempts: pd.DataFrame,
    prompt_logs: pd.DataFrame,
    *,
    problem_names: Mapping[str, str] | None = None,
    mentions: Mentions = "message",
) -> pd.DataFrame:
    """When each participant first asked about each problem, by the rules of ``prompt_texts``.

    Returns:
        A row for each participant and problem with a prompt: ``participant``, ``problem_id``, ``first_prompt_at`` (the
        earliest known time, or NaT) and ``n_untimed`` (prompts without a time, any of which may be earlier).
    """
    prompts = _prompts_of_problems(attempts, prompt_logs, problem_names, mentions)
    prompts["untimed"] = prompts["at"].isna()
    groups = prompts.groupby(_GROUP, sort=True)
    return groups.agg(first_prompt_at=("at", "min"), n_untimed=("untimed", "sum")).reset_index()


def _prompts_of_problems(
    attempts: pd.DataFrame, prompt_logs: pd.DataFrame, problem_names: Mapping[str, str] | None, mentions: Mentions
) -> pd.DataFrame:
    """A row for each prompt and each problem that it belongs to: participant, problem_id, at, text, rank."""
    client = prompt_logs["notes"].fillna("").str.split("; ").map(lambda notes: NOT_TYPED in notes).astype(bool)
    asked = (prompt_logs["role"] == "user") & (prompt_logs["text"].str.strip() != "") & ~client
    prompts = prompt_logs.loc[asked, ["participant", "path", "conversation", "order", "at", "text"]]
    prompts = prompts[prompts["participant"].isin(set(attempts["participant"]))]
    names = ProblemNames(attempts["problem_id"].unique(), problem_names)
    logs = prompts[["path", "conversation"]].drop_duplicates()
    logs["named"] = [
        names.named_in(_inside(path)) | names.mentioned_in(str(conversation))
        for path, conversation in zip(logs["path"], logs["conversation"], strict=True)
    ]
    places = {path: i for i, path in enumerate(sorted(prompts["path"].unique(), key=natural_key))}
    prompts = prompts.merge(logs, on=["path", "conversation"], how="left")
    prompts["mentioned"] = [names.mentioned_in(text) for text in prompts["text"]]
    prompts = prompts.assign(place=prompts["path"].map(places)).sort_values(
        ["place", "conversation", "order"], ignore_index=True
    )
    if mentions == "conversation":
        spoken = prompts["mentioned"].where(prompts["mentioned"].map(bool))
        carried = spoken.groupby([prompts["path"], prompts["conversation"]]).ffill()
        prompts["mentioned"] = carried.where(carried.notna(), prompts["mentioned"])
    prompts["rank"] = np.arange(len(prompts))
    problems = [sorted(a | b) for a, b in zip(prompts["named"], prompts["mentioned"], strict=True)]
    prompts["problem_id"] = pd.Series(problems, index=prompts.index, dtype="object")
    return prompts[[*_GROUP, "at", "text", "rank"]].explode("problem_id").dropna(subset="problem_id")


def _windows(attempts: pd.DataFrame) -> pd.DataFrame:
    """Each attempt's row number, time, and what is before it, in the order of trajectories and turns."""
    table = attempts[[*_GROUP, "turn", "submitted_at"]].astype({"turn": "Int64"})
    table["row"] = np.arange(len(table))
    table = table.sort_values([*_GROUP, "turn"], ignore_index=True)
    groups = table.groupby(_GROUP, sort=False)
    table["before"] = groups["submitted_at"].shift(1)
    table["is_first"] = (table["turn"] == 1).to_numpy(bool)
    table["follows"] = groups["turn"].diff().to_numpy(np.float64, na_value=np.nan) == 1
    return table


def _reasons(windows: pd.DataFrame, with_logs: set[str]) -> pd.Series:
    """Why h is unknown, row by row; None where it is known."""
    first, at, before = windows["is_first"], windows["submitted_at"], windows["before"]
    has_log = windows["participant"].isin(with_logs)
    n_untimed = windows["n_untimed"].astype(np.int64)
    untimed = [f"{NO_ALIGNMENT}: {n} prompt(s) about the problem have no time" for n in n_untimed]
    return first_reason(
        len(windows),
        [
            (~has_log, "the participant has no prompt log"),
            (at.isna(), f"{NO_ALIGNMENT}: the attempt's time is unknown"),
            (~first & ~windows["follows"], f"{NO_ALIGNMENT}: the turn before is not in the table"),
            (~first & before.isna(), f"{NO_ALIGNMENT}: the time of the turn before is unknown"),
            (~first & (before > at), f"{NO_ALIGNMENT}: the turn before has a later time"),
            (n_untimed > 0, untimed),
        ],
    )


def _inside(path: str) -> str:
    """The log's name within ``prompts/<participant>/``, which must not make it belong to a problem."""
    parts = path.split("/")
    return "/".join(parts[2:]) if len(parts) > 2 and parts[0] == "prompts" else parts[-1]
