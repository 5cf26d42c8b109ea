"""Tracing: a figure, an attempt, a pair or a file of a workspace, with all that is stored about it, as plain values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.lineage.basis import COUNTS, Basis, reconcile
from judge_pipeline.lineage.figures import Figure, figures_of
from judge_pipeline.lineage.judgments import Said, judgments_behind, judgments_of_attempt, judgments_of_pair
from judge_pipeline.lineage.rules import RULES
from judge_pipeline.lineage.sources import CONTEST, OVER_ALL, MissingTableError
from judge_pipeline.lineage.table_graph import made_from, ways_back
from judge_pipeline.lineage.touched import Reach, Touched, touched_by_file, touched_by_subject
from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST
from judge_pipeline.orchestration.traced_files import FileStates
from judge_pipeline.orchestration.traced_sources import TracedWorkspace
from judge_pipeline.orchestration.traced_values import by_id, plain_value, said_values
from judge_pipeline.tables import (
    ALL_TABLES,
    ATTEMPTS,
    JUDGE_REQUESTS,
    PREFERENCE_PAIRS,
    PREFERENCE_SPLITS,
    SPLIT_ASSIGNMENTS,
    TRAJECTORIES,
)

if TYPE_CHECKING:
    from judge_pipeline.judging.kept_judgments import KeptJudgment
    from judge_pipeline.settings import Workspace

SCHEMA = "judge-pipeline/trace/1"

_TABLES = {table.name: table for table in ALL_TABLES}
_SETTINGS = ("judges.yaml", "contests.yaml", "preference.yaml", "criteria.yaml")

Trace = dict[str, Any]
"""A trace as plain JSON values; ``kind`` says of what."""


class Tracer:
    """Traces through a workspace; tables, files and bases are looked at once.

    Args:
        workspace: the workspace.
        graph: asset -> what it is made from (``traced_graph.asset_graph``).
    """

    def __init__(self, workspace: Workspace, graph: Mapping[str, Sequence[str]]) -> None:
        self.workspace, self.graph = workspace, graph
        self.traced = TracedWorkspace(workspace)
        self.states = FileStates(self.traced)
        self.reach = Reach(self.traced.sources, self.traced.files, self.traced.everything())
        self.unread: dict[str, str] = {}
        self._figures: dict[tuple[str, str, str], list[Figure]] = {}
        self._solved: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
        self._abouts: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}

    def figures(
        self, wanted: Iterable[tuple[str, str]] | None = None, tables: Sequence[str] | None = None
    ) -> list[Figure]:
        """The figures of the contests and sets, by default of all; those over all of them come last.

        A table that cannot be read is noted in ``unread``, and its figures are left out.

        Args:
            wanted: kind and name of the contests and sets; None: all, and what is over all of them.
            tables: the tables to look at; None: all.
        """
        keys = [*(self.traced.everything() if wanted is None else wanted)]
        keys += [(OVER_ALL, "")] if wanted is None else []
        names = [t.name for t in ALL_TABLES if t.name in RULES and (tables is None or t.name in tables)]
        return [figure for key in keys for name in names for figure in self._figures_of(*key, name)]

    def _figures_near(self, kind: str, name: str) -> list[Figure]:
        """The figures that a contest or a set can be behind: its own, and those over all."""
        return self.figures([(kind, name), (OVER_ALL, "")])

    def _figures_of(self, kind: str, name: str, table: str) -> list[Figure]:
        key = (kind, name, table)
        if key not in self._figures:
            found: list[Figure] = []
            if self.traced.store.path(_TABLES[table], name or EVERY_CONTEST).is_file():
                try:
                    rows = self.traced.sources(kind, name)[_TABLES[table]].astype("object")
                    records = rows.where(rows.notna(), None).to_dict("records")
                    plain = [{str(k): plain_value(v) for k, v in record.items()} for record in records]
                    found = figures_of(_TABLES[table], plain, kind, name)
                except MissingTableError as error:
                    self.unread[f"{table} of {name or 'all'}"] = str(error)
            self._figures[key] = found
        return self._figures[key]

    def of_figure(self, figure: Figure) -> Trace:
        """A figure home: its rows, judgments, calls, prompts, files and their bytes' hashes.

        Raises:
            JudgingError: the checkpoint cannot be read.
        """
        basis = self.reach.basis(figure)
        said = judgments_behind(self.traced.sources(figure.kind, figure.of), figure, basis, self.traced.files)
        judgments, templates = self._judgments(said)
        counts = reconcile(basis, figure.n, figure.n_left_out)
        made = self._made_from(figure)
        return {
            "schema": SCHEMA,
            "kind": "figure",
            "figure": self.shown(figure) | {"row": dict(figure.row), "about": _TABLES[figure.table].description},
            "counts": asdict(counts) | {"reconciles": counts.problem is None and basis.unlisted is None},
            "rests_on": {
                "unit": basis.unit,
                "judges": list(basis.judges),
                "answered_too": list(basis.answered_too),
                "unlisted": basis.unlisted,
                "parts": self._parts(figure, basis),
            },
            "judgments": judgments,
            "templates": templates,
            "files": self._files(self.reach.files(figure)),
            "tables": self._tables(figure),
            "made_from": made,
            "versions": self.versions(made),
        }

    def of_attempt(self, contest: str, attempt: str) -> Trace:
        """An attempt: where it was read, what judges said of it, and every figure that it touched."""
        sources, files = self.traced.sources(CONTEST, contest), self.traced.files(CONTEST, contest)
        judgments, templates = self._judgments(judgments_of_attempt(sources, attempt))
        paths = {(CONTEST, contest, path): "its artifact" for path in files.of_attempt(attempt)}
        participant = files.participant_of(attempt)
        prompts = files.prompts_of(participant) if participant is not None else ()
        paths |= {(CONTEST, contest, path): "its participant's prompts" for path in prompts}
        touched = touched_by_subject(self.reach, self._figures_near(CONTEST, contest), (CONTEST, contest, attempt))
        return {
            "schema": SCHEMA,
            "kind": "attempt",
            "attempt": {"contest": contest, "attempt_id": attempt, **self.about(CONTEST, contest, attempt)},
            "request": self._request(contest, attempt),
            "judgments": judgments,
            "templates": templates,
            "files": self._files(paths),
            "figures": self._touched(touched),
            "figures_not_read": dict(self.unread),
            "versions": self.versions({}),
        }

    def of_pair(self, preference_set: str, pair: str) -> Trace:
        """A pair: where it was read, what was asked about it at every stage, and every figure that it touched."""
        from judge_pipeline.judging.checkpoint.store import Checkpoint
        from judge_pipeline.judging.kept_judgments import requests_about
        from judge_pipeline.preference.pair_question import pair_key

        kind = "preference_set"
        sources, files = self.traced.sources(kind, preference_set), self.traced.files(kind, preference_set)
        said = judgments_of_pair(sources, pair)
        known = {(each.kept_as, each.request_hash) for each in said}
        with closing(Checkpoint(self.workspace.checkpoint_url)) as checkpoint:
            asked = requests_about(checkpoint, pair_key(preference_set, pair))
        said += [
            Said(kind, preference_set, judge, judge, pair, "/".join(id_.split("/")[2:]), {}, request_hash, "checkpoint")
            for judge, request_hash, id_ in asked
            if (judge, request_hash) not in known
        ]
        judgments, templates = self._judgments(said)
        touched = touched_by_subject(self.reach, self._figures_near(kind, preference_set), (kind, preference_set, pair))
        return {
            "schema": SCHEMA,
            "kind": "pair",
            "pair": {"preference_set": preference_set, "pair_id": pair, **self.about(kind, preference_set, pair)},
            "judgments": judgments,
            "templates": templates,
            "files": self._files({(kind, preference_set, path): "its file" for path in files.of_pair(pair)}),
            "figures": self._touched(touched),
            "figures_not_read": dict(self.unread),
            "versions": self.versions({}),
        }

    def of_file(self, kind: str, name: str, path: str) -> Trace:
        """A file: what was read from it, what judges said of that, and every table and figure that it touched."""
        files = self.traced.files(kind, name)
        subjects = files.attempts_of(path) if kind == CONTEST else files.pairs_of(path)
        touched = touched_by_file(self.reach, self._figures_near(kind, name), (kind, name, path))
        sources = self.traced.sources(kind, name)
        of_subject = judgments_of_attempt if kind == CONTEST else judgments_of_pair
        said = [each for subject in subjects for each in of_subject(sources, subject)]
        first = [table for table in ("submission_artifacts", "prompt_logs") if self._is_in(kind, name, table, path)]
        first = first if kind == CONTEST else ["preference_pairs"]
        judges = sorted(judge for judge, file in files.brought.recorded.items() if file == path)
        first += (["judge_outputs"] if kind == CONTEST else ["pair_judgments"]) if judges else []
        return {
            "schema": SCHEMA,
            "kind": "file",
            "file": {**asdict(self.states.state(kind, name, path)), "judges_recorded_in_it": judges},
            "participants_whose_prompts_it_holds": files.participants_of(path),
            "subjects": [{"id": each, **self.about(kind, name, each)} for each in subjects],
            "judgments": [said_values(each) for each in said],
            "tables": sorted({*first, *made_from(self.graph, first)} & _TABLES.keys()),
            "figures": self._touched(touched),
            "figures_not_read": dict(self.unread),
            "versions": self.versions({}),
        }

    def shown(self, figure: Figure) -> dict[str, Any]:
        """A figure by its names, with its estimate."""
        row = figure.row
        return {
            "id": figure.id,
            "anchor": figure.anchor,
            "words": figure.words,
            "table": figure.table,
            "of_kind": figure.kind,
            "of": figure.of,
            "key": dict(figure.key),
            "value": next((row[name] for name in ("value", "y", "chi2") if name in row), None),
            "n": figure.n,
            "n_left_out": figure.n_left_out,
            "ci95": None if row.get("ci95_low") is None else [row.get("ci95_low"), row.get("ci95_high")],
            "reason": row.get("reason"),
        }

    def about(self, kind: str, name: str, subject: str) -> dict[str, Any]:
        """What is known of an attempt or a pair, its texts left out."""
        key = (kind, name)
        if key not in self._abouts:
            self._abouts[key] = self._attempts(name) if kind == CONTEST else self._pairs(name)
        return self._abouts[key].get(subject, {})

    def _attempts(self, contest: str) -> dict[str, dict[str, Any]]:
        sources = self.traced.sources(CONTEST, contest)
        columns = [
            "participant", "problem_id", "turn", "language", "verdict", "y", "submitted_at", "path", "row", "reader",
            "source_sha256",
        ]  # fmt: skip
        rows = sources[ATTEMPTS][["attempt_id", *columns]]
        try:
            splits = sources[SPLIT_ASSIGNMENTS][["participant", "problem_id", "split"]]
            rows = rows.merge(splits, on=["participant", "problem_id"], how="left")
        except MissingTableError:
            pass
        return by_id(rows, "attempt_id")

    def _pairs(self, name: str) -> dict[str, dict[str, Any]]:
        sources = self.traced.sources("preference_set", name)
        columns = ["w", "both_bad", "category", "language", "origin", "source_file", "place"]
        rows = sources[PREFERENCE_PAIRS][["pair_id", *columns]]
        with suppress(MissingTableError):
            rows = rows.merge(sources[PREFERENCE_SPLITS][["pair_id", "split", "instruction_group"]], on="pair_id")
        return by_id(rows, "pair_id")

    def _is_in(self, kind: str, name: str, table: str, path: str) -> bool:
        rows = self.traced.sources(kind, name)[_TABLES[table]]
        column = rows["path"] if table == "prompt_logs" else rows[["path", "source_path"]]
        return bool((column == path).to_numpy().any())

    def _parts(self, figure: Figure, basis: Basis) -> list[dict[str, Any]]:
        parts = []
        for role, words, rows in basis.parts():
            records = rows.astype("object")
            listed = [
                self._row(figure, {str(k): plain_value(v) for k, v in record.items()})
                for record in records.where(records.notna(), None).to_dict("records")
            ]
            n = int(rows[COUNTS].sum()) if COUNTS in rows.columns else len(rows)
            parts.append({"role": role, "words": words, "n": n, "rows": listed})
        return parts

    def _row(self, figure: Figure, record: dict[str, Any]) -> dict[str, Any]:
        """A row with what is known of its attempt, pair or trajectory."""
        for column, kind in (("attempt_id", CONTEST), ("pair_id", "preference_set")):
            if column in record:
                return record | {"about": self.about(kind, record.get(kind, figure.of), record[column])}
        if {"participant", "problem_id"} <= record.keys():
            solved = self._trajectories(record.get(CONTEST, figure.of))
            return record | {"about": solved.get((record["participant"], record["problem_id"]), {})}
        return record

    def _trajectories(self, contest: str) -> dict[tuple[str, str], dict[str, Any]]:
        """Participant and problem -> how many turns there were, and at which it was first accepted."""
        if contest not in self._solved:
            try:
                rows = self.traced.sources(CONTEST, contest)[TRAJECTORIES]
            except MissingTableError:
                rows = TRAJECTORIES.empty()
            columns = zip(rows["participant"], rows["problem_id"], rows["n_turns"], rows["first_ac_turn"], strict=True)
            self._solved[contest] = {
                (who, problem): {"n_turns": int(n), "first_ac_turn": None if first is pd.NA else int(first)}
                for who, problem, n, first in columns
            }
        return self._solved[contest]

    def _judgments(self, said: Sequence[Said]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Judgments with what the checkpoint keeps of them, and the prompt templates that they were asked with."""
        from judge_pipeline.judging.checkpoint.store import Checkpoint
        from judge_pipeline.judging.kept_judgments import kept_judgments

        wanted = [(each.kept_as, each.request_hash) for each in said if each.request_hash is not None]
        kept: dict[tuple[str, str], KeptJudgment] = {}
        if wanted:
            with closing(Checkpoint(self.workspace.checkpoint_url)) as checkpoint:
                kept = kept_judgments(checkpoint, wanted)
        found = []
        for each in said:
            of_it = kept.get((each.kept_as, each.request_hash or ""))
            there = of_it is not None and of_it.is_kept
            found.append(said_values(each) | {"kept": asdict(of_it) if there and of_it is not None else None})
        templates = {
            (of_it.template, of_it.template_sha256) for of_it in kept.values() if of_it.template is not None
        }  # fmt: skip
        return found, [self._template(str(name), str(sha256)) for name, sha256 in sorted(templates, key=str)]

    def _template(self, name: str, sha256: str) -> dict[str, Any]:
        """A prompt template as it was asked with, held against its file; its text where it is the same."""
        folder = self.workspace.config_dir / "prompts"
        file = folder / name
        inside = file.resolve().is_relative_to(folder.resolve()) and file.is_file()
        data = file.read_bytes() if inside else None
        now = None if data is None else hashlib.sha256(data).hexdigest()
        state = "gone" if now is None else "same" if now == sha256 else "changed"
        text = data.decode("utf-8", "replace") if data is not None and state == "same" else None
        return {"template": name, "sha256": sha256, "sha256_now": now, "state": state, "text": text}

    def _request(self, contest: str, attempt: str) -> dict[str, Any] | None:
        """The canonical request of the attempt, as redacted; None where it has none."""
        try:
            rows = self.traced.sources(CONTEST, contest)[JUDGE_REQUESTS]
        except MissingTableError:
            return None
        found = by_id(rows[rows["attempt_id"] == attempt], "attempt_id")
        return found.get(attempt)

    def _files(self, files: Mapping[tuple[str, str, str], str]) -> list[dict[str, Any]]:
        return [{**asdict(self.states.state(*file)), "role": role} for file, role in files.items()]

    def _tables(self, figure: Figure) -> list[dict[str, Any]]:
        """The tables on the way back from the figure, with their files' hashes."""
        found = []
        for name, inputs in ways_back(self.graph, figure.table).items():
            paths = self._paths(figure, name)
            found.append({"table": name, "made_from": list(inputs), "files": paths})
        return found

    def _paths(self, figure: Figure, name: str) -> dict[str, str]:
        """The files of a table on the figure's contest or set, relative to the tables' folder -> sha256."""
        table = _TABLES.get(name)
        if table is None:
            return {}
        store, owner = self.traced.store, figure.of or EVERY_CONTEST
        partitions = [(owner,), *((owner, part) for part in store.parts(table, owner))]
        files = [store.path(table, *partition) for partition in partitions]
        return {
            "/".join([name, *partition]) + ".parquet": hashlib.sha256(file.read_bytes()).hexdigest()
            for partition, file in zip(partitions, files, strict=True)
            if file.is_file()
        }

    def _made_from(self, figure: Figure) -> Trace:
        """What the table says that it was made from, each table held against what is stored now."""
        table = _TABLES[figure.table]
        given = self.traced.store.provenance(table, figure.of or EVERY_CONTEST) or {}
        states = {}
        for name, sha256 in (given.get("data") or {}).items():
            if name in _TABLES:
                now = list(self._paths(figure, name).values())[:1]
                states[name] = "gone" if not now else "same" if now[0] == sha256 else "changed"
        return dict(given) | ({"inputs_now": states} if states else {})

    def versions(self, made: Mapping[str, Any]) -> dict[str, Any]:
        """What it was made with, as the table says, and what there is now."""
        return {
            "package_then": made.get("version"),
            "package_now": version("judge-pipeline"),
            "code_version": made.get("code"),
            "seed": made.get("seed"),
            "resamples": made.get("resamples"),
            "settings_now": self.settings_sha256,
        }

    @cached_property
    def settings_sha256(self) -> dict[str, str]:
        """File of settings -> sha256 of its bytes now."""
        files = {name: self.workspace.config_dir / name for name in _SETTINGS}
        return {
            name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items() if file.is_file()
        }  # fmt: skip

    def _touched(self, touched: Iterable[Touched]) -> list[dict[str, Any]]:
        return [self.shown(each.figure) | {"role": each.role} for each in touched]
