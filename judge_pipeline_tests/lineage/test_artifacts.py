"""Which files lie behind which rows: artifacts, programs beside them, archives, prompts, statements, answers."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judge_pipeline.lineage.artifacts import Brought, Files, files_of
from judge_pipeline.lineage.basis import ALSO, COUNTED, LEFT_OUT, Basis, Further, rows_of, without
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import ATTEMPTS, JUDGE_REQUESTS, PROMPT_LOGS, SUBMISSION_ARTIFACTS
from judge_pipeline_tests.lineage.made_sources import sources_of

LIST, PROGRAM, ARCHIVE, PAGE = (
    "submissions/E1/list.csv",
    "submissions/E1/a.py",
    "submissions/E2/all.zip",
    "submissions/E2/p.html",
)
CHAT = "prompts/{}/chat.md"


def table(schema: Table, rows: list[dict[str, Any]]) -> pd.DataFrame:
    return schema.conform([dict.fromkeys(schema.column_names) | row for row in rows])


def made(context: str = "nonblind") -> Files:
    """E1 has two rows of one list, the first with its program in another file; E2 a page and a member of an archive."""
    places = [("1", "E1", "p1", 1, LIST, 1), ("2", "E1", "p1", 2, LIST, 2), ("3", "E2", "p1", 1, PAGE, None),
              ("4", "E2", "p2", 1, ARCHIVE, 1)]  # fmt: skip
    beside = {(LIST, 1): PROGRAM, (ARCHIVE, 1): f"{ARCHIVE}/a.py"}
    attempts = [
        {"attempt_id": id_, "participant": u, "problem_id": p, "turn": k, "verdict": "AC", "y": 1, "path": path,
         "row": row, "order_source": "instant", "reader": "r"} for id_, u, p, k, path, row in places
    ]  # fmt: skip
    artifacts = [
        {"path": path, "row": row, "reader": "r", "verdict": "AC", "source_path": beside.get((path, row))}
        for _, _, _, _, path, row in places
    ]  # fmt: skip
    logs = [
        {"participant": u, "path": CHAT.format(u), "conversation": "c", "order": 1, "role": "user", "text": "t",
         "text_sha256": "s"} for u in ("E1", "E2", "E3")
    ]  # fmt: skip
    requests = [
        {"attempt_id": id_, "split": "test", "problem_id": p, "source_code": "x", "prompt_text": "", "context": context,
         "problem_statement": "s", "source_chars_cut": 0, "prompt_chars_cut": 0, "request_sha256": "h"}
        for id_, _, p, *_ in places
    ]  # fmt: skip
    sources = sources_of(
        {
            ATTEMPTS: table(ATTEMPTS, attempts), SUBMISSION_ARTIFACTS: table(SUBMISSION_ARTIFACTS, artifacts),
            PROMPT_LOGS: table(PROMPT_LOGS, logs), JUDGE_REQUESTS: table(JUDGE_REQUESTS, requests),
        }
    )  # fmt: skip
    return Files(sources, Brought({"told": "recorded/told.csv"}, {"p2": "problems/p2.md"}))


def basis(attempts: list[str], judges: tuple[str, ...] = (), *, reads_prompts: bool = False) -> Basis:
    rows = rows_of(["attempt_id"], [[attempt] for attempt in attempts])
    return Basis("attempts", rows, rows_of(["attempt_id", "why"]), (), judges, reads_prompts)


def paths(of: Basis, files: Files) -> set[str]:
    return {path for _, _, path in files_of(of, files, {})}


def test_a_program_in_another_file_counts_and_a_member_of_an_archive_is_in_it() -> None:
    files = made()
    assert files.of_attempt("1") == (LIST, PROGRAM) and files.of_attempt("2") == (LIST,)
    assert files.of_attempt("4") == (ARCHIVE,)
    assert files.attempts_of(LIST) == ["1", "2"] and files.attempts_of(PROGRAM) == ["1"]
    assert files.participants_of(CHAT.format("E3")) == ["E3"]


@pytest.mark.parametrize("context", ["nonblind", "blind"])
def test_prompts_count_where_judges_are_shown_them(context: str) -> None:
    files = made(context)
    judged = paths(basis(["3"], ("told",), reads_prompts=True), files)
    assert judged == {PAGE, "recorded/told.csv"} | ({CHAT.format("E2")} if context == "nonblind" else set())
    assert paths(basis(["3"]), files) == {PAGE}, "a label does not depend on prompts"
    assert paths(basis(["3"], reads_prompts=True), files) == {PAGE, CHAT.format("E2")}, "a distance to prompts does"


def test_statements_count_for_judges_of_their_problem_alone() -> None:
    files = made("blind")
    assert "problems/p2.md" in paths(basis(["4"], ("asked",), reads_prompts=True), files)
    assert "problems/p2.md" not in paths(basis(["3"], ("asked",), reads_prompts=True), files)
    assert "problems/p2.md" not in paths(basis(["4"]), files)


def test_trajectories_and_participants_stand_for_all_their_attempts() -> None:
    files = made()
    trajectory = rows_of(["participant", "problem_id"], [["E1", "p1"]])
    assert paths(Basis("trajectories", trajectory, rows_of(["why"])), files) == {LIST, PROGRAM}
    people = rows_of(["participant"], [["E2"], ["E3"]])
    assert paths(Basis("participants", people, rows_of(["why"]), reads_prompts=True), files) == {
        PAGE, ARCHIVE, CHAT.format("E2"), CHAT.format("E3"),
    }  # fmt: skip
    revision = rows_of(["previous_attempt_id", "attempt_id"], [["1", "2"]])
    assert paths(Basis("revisions", revision, rows_of(["why"])), files) == {LIST, PROGRAM}


def test_a_file_has_the_first_of_its_roles() -> None:
    files = made()
    of = Basis(
        "attempts", rows_of(["attempt_id"], [["2"]]), without(rows_of(["attempt_id"], [["1"], ["3"]]), "no label"),
        (Further("val", rows_of(["attempt_id"], [["4"]])),),
    )  # fmt: skip
    roles = {path: role for (_, _, path), role in files_of(of, files, {}).items()}
    assert roles == {LIST: COUNTED, ARCHIVE: ALSO, PROGRAM: LEFT_OUT, PAGE: LEFT_OUT}


def test_everything_that_is_named_is_listed_once() -> None:
    files = made()
    wanted = {LIST, PROGRAM, ARCHIVE, PAGE, "recorded/told.csv", "problems/p2.md"}
    assert files.all_paths() == sorted(wanted | {CHAT.format(u) for u in ("E1", "E2", "E3")})
