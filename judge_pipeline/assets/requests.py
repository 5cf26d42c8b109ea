"""Group contest: the canonical judge requests, without personal data (paper 1, eq. 7)."""

import os
from collections.abc import Iterator
from typing import Any

import dagster as dg

from judge_pipeline.assets.contest import GROUP
from judge_pipeline.orchestration.partitions import CONTESTS, contest_of
from judge_pipeline.orchestration.table_asset import (
    OWNERS,
    Check,
    Made,
    check_specs,
    code_version,
    column_schema,
    events,
)
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_REQUESTS,
    PARTICIPANT_CONTEXTS,
    REDACTION_COUNTS,
    SPLIT_ASSIGNMENTS,
)

_MADE: dict[Table, tuple[Check, ...]] = {
    JUDGE_REQUESTS: (
        Check("no_label_leakage", "No verdict, label or score stands in a request", blocking=True),
        Check("joins_complete", "Every attempt with source code has one request", blocking=True),
    ),
    REDACTION_COUNTS: (Check("redaction_on", "Every kind of personal data is replaced", warns=True),),
}
_ROOMS = ("cocreation/requests.py", "cocreation/redacted.py", "ingest/redaction.py", "ingest/redacting")


@dg.multi_asset(
    name="make_judge_requests",
    outs={
        table.name: dg.AssetOut(
            key=table.name,
            description=table.description,
            metadata={"dagster/column_schema": column_schema(table), "key": ", ".join(table.key)},
            kinds={"pandas", "parquet", "json"} if table is JUDGE_REQUESTS else {"pandas", "parquet"},
            owners=OWNERS,
            group_name=GROUP,
            code_version=code_version(_ROOMS),
        )
        for table in _MADE
    },
    ins={table.name: dg.AssetIn() for table in (ATTEMPTS, PARTICIPANT_CONTEXTS, SPLIT_ASSIGNMENTS)},
    partitions_def=CONTESTS,
    check_specs=[spec for table, checks in _MADE.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store"},
    description="Requests as Parquet and as JSONL for any other tool; what was replaced in them is counted.",
)
def make_judge_requests(
    context: dg.AssetExecutionContext, attempts: Any, participant_contexts: Any, splits: Any
) -> Iterator[Any]:
    """Personal data are replaced first, then requests are made of what is left."""
    from judge_pipeline.cocreation.redacted import redact_requests, redactions_in_words, redactor_of

    contest = contest_of(context)
    redaction = context.resources.workspace.contest(contest).redaction
    key = os.environ.get(redaction.key_env, "").encode() or None
    people = sorted(attempts["participant"].unique())
    redactor = redactor_of(redaction, contest, people, key)
    shown, contexts, counts = redact_requests(attempts, participant_contexts, redactor, redaction)
    words = redactions_in_words(redaction)
    made = {
        JUDGE_REQUESTS: _requests(context, contest, shown, contexts, splits, words),
        REDACTION_COUNTS: Made(
            counts,
            {"replaced": words, "pseudonyms": f"keyed by {redaction.key_env}" if key else "none: no key is set"},
            {"redaction_on": [] if counts["reason"].isna().all() else [words]},
        ),
    }
    for table, rows in made.items():
        yield from events(table, rows, _MADE[table], table.name)
        context.resources.progress.table(table.name, len(rows.rows))


def _requests(
    context: dg.AssetExecutionContext, contest: str, attempts: Any, contexts: Any, splits: Any, redacted: str
) -> Made:
    from judge_pipeline.cocreation import requests
    from judge_pipeline.ingest.contest import read_statements
    from judge_pipeline.orchestration.exports import write_export

    resource = context.resources.workspace
    settings = resource.contest(contest)
    statements = read_statements(resource.folder(contest)) if settings.problem_statements else None
    rows = requests.judge_requests(
        attempts,
        contexts,
        splits,
        context=settings.context,
        max_code_chars=settings.max_code_chars,
        max_prompt_chars=settings.max_prompt_chars,
        statements=statements,
    )
    jsonl = write_export(resource.workspace(), contest, "judge_requests.jsonl", requests.to_jsonl(rows))
    with_source = set(attempts.loc[attempts["source_code"].notna(), "attempt_id"])
    missing = sorted(with_source - set(rows["attempt_id"]))
    return Made(
        rows,
        {
            "jsonl": dg.MetadataValue.path(str(jsonl)),
            "context": settings.context,
            "replaced": redacted,
            "attempts_without_source": len(requests.attempts_without_source(attempts)),
            "sources_cut": int((rows["source_chars_cut"] > 0).sum()),
            "contexts_cut": int((rows["prompt_chars_cut"] > 0).sum()),
            "requests_that_name_a_verdict": str(requests.verdict_word_counts(rows)),
        },
        {
            "no_label_leakage": requests.label_leaks(rows) + requests.label_leaks(requests.to_jsonl(rows)),
            "joins_complete": [f"attempt {a} has no request" for a in missing],
        },
    )


ASSETS = [make_judge_requests]
