"""Group contest: the canonical judge requests, without personal data (paper 1, eq. 7)."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from judge_pipeline.assets.contest import GROUP
from judge_pipeline.orchestration.partitions import CONTESTS, contest_of
from judge_pipeline.orchestration.table_asset import (
    FAULT,
    OWNERS,
    Check,
    Made,
    check_specs,
    code_version,
    column_schema,
    events,
)
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_REQUESTS,
    PARTICIPANT_CONTEXTS,
    REDACTION_COUNTS,
    SPLIT_ASSIGNMENTS,
    VERDICT_WORD_COUNTS,
)

_MADE: dict[Table, tuple[Check, ...]] = {
    JUDGE_REQUESTS: (
        Check(
            "no_label_leakage",
            "No column or key of a request is named like a verdict or score",
            remedy="rename the column or key that contest.yaml or a prompt log brings in; judges must not be asked "
            "with it",
            blocking=True,
        ),
        Check(
            "no_label_in_messages",
            "With other labels, every judge's messages are the same, byte for byte",
            remedy="take out of the judge's prompt template, or of prepare, whatever differs; judges must not be "
            "asked with it",
            blocking=True,
        ),
        Check("joins_complete", "Every attempt with source code has one request", remedy=FAULT, blocking=True),
    ),
    REDACTION_COUNTS: (
        Check(
            "redaction_on",
            "Every kind of personal data is replaced",
            remedy="write the kinds back into redaction.kinds of contest.yaml before a judge of another company is "
            "asked, or let it be so on purpose",
            warns=True,
        ),
    ),
    VERDICT_WORD_COUNTS: (),
}
_ROOMS = (
    "cocreation/label_check.py", "cocreation/making_requests.py", "cocreation/redacted.py", "cocreation/requests.py",
    "cocreation/verdict_masking.py", "ingest/comments.py", "ingest/redacting", "ingest/redaction.py",
    "ingest/verdict_mentions.py",
)  # fmt: skip


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
    description="Requests as Parquet and as JSONL for any other tool; what is replaced in them is counted.",
)
def make_judge_requests(
    context: dg.AssetExecutionContext, attempts: Any, participant_contexts: Any, splits: Any
) -> Iterator[Any]:
    """Personal data are replaced first, then requests are made of what is left."""
    from judge_pipeline.cocreation.redacted import redactions_in_words, redactor_of
    from judge_pipeline.cocreation.verdict_masking import masking_in_words

    contest = contest_of(context)
    settings = context.resources.workspace.contest(contest)
    redaction = settings.redaction
    key = key_environment().get(redaction.key_env, "").encode() or None
    redactor = redactor_of(redaction, contest, sorted(attempts["participant"].unique()), key)
    maker = _maker(context, contest, redactor)
    made = maker.make(attempts, participant_contexts, splits)
    replaced, words = redactions_in_words(redaction), masking_in_words(settings)
    counts, found = made.redaction_counts, made.verdict_word_counts
    in_places = {f"in_{place}": int(n) for place, n in found.groupby("place")["n_found"].sum().items()}
    tables = {
        JUDGE_REQUESTS: _requests(context, contest, maker, made.requests, (attempts, participant_contexts, splits)),
        REDACTION_COUNTS: Made(
            counts,
            {"replaced": replaced, "pseudonyms": f"keyed by {redaction.key_env}" if key else "none: no key is set"},
            {"redaction_on": [] if counts["reason"].isna().all() else [replaced]},
        ),
        VERDICT_WORD_COUNTS: Made(found, {"verdict_words": words, **in_places}),
    }
    for table, rows in tables.items():
        yield from events(context, table, rows, _MADE[table], table.name)
        context.resources.progress.table(table.name, len(rows.rows))


def _maker(context: dg.AssetExecutionContext, contest: str, redactor: Any) -> Any:
    from judge_pipeline.cocreation.making_requests import RequestMaker
    from judge_pipeline.ingest.contest import read_statements

    settings = context.resources.workspace.contest(contest)
    folder = context.resources.workspace.folder(contest)
    return RequestMaker(settings, redactor, read_statements(folder) if settings.problem_statements else None)


def _requests(
    context: dg.AssetExecutionContext, contest: str, maker: Any, rows: Any, tables: tuple[Any, Any, Any]
) -> Made:
    from judge_pipeline.cocreation import requests
    from judge_pipeline.cocreation.label_check import labels_in_messages
    from judge_pipeline.cocreation.redacted import redactions_in_words
    from judge_pipeline.cocreation.verdict_masking import masking_in_words
    from judge_pipeline.judging.rendering import renderers_of
    from judge_pipeline.orchestration.exports import write_export

    workspace, attempts, settings = context.resources.workspace.workspace(), tables[0], maker.settings
    jsonl = write_export(workspace, contest, "judge_requests.jsonl", requests.to_jsonl(rows))
    with_source = set(attempts.loc[attempts["source_code"].notna(), "attempt_id"])
    missing = sorted(with_source - set(rows["attempt_id"]))
    judges = workspace.judges()
    named = {name: judges.get(name) for name in judges.names("cocreation")}
    renderers, without = renderers_of(named, workspace.config_dir / "prompts")
    labels = labels_in_messages(maker, *tables, rows, renderers, settings.seed)
    return Made(
        rows,
        {
            "jsonl": dg.MetadataValue.path(str(jsonl)),
            "context": settings.context,
            "replaced": redactions_in_words(settings.redaction),
            "verdict_words": masking_in_words(settings),
            "attempts_without_source": len(requests.attempts_without_source(attempts)),
            "sources_cut": int((rows["source_chars_cut"] > 0).sum()),
            "contexts_cut": int((rows["prompt_chars_cut"] > 0).sum()),
            "messages_compared_under_other_labels": f"{labels.n_compared} of {len(rows)} requests, as sent to "
            + ("; ".join(renderers) or "no judge"),
        }
        | ({"judges_without_a_prompt": "\n".join(f"{j}: {why}" for j, why in without.items())} if without else {}),
        {
            "no_label_leakage": requests.label_leaks(rows) + requests.label_leaks(requests.to_jsonl(rows)),
            "no_label_in_messages": list(labels.problems),
            "joins_complete": [f"attempt {a} has no request" for a in missing],
        },
    )


ASSETS = [make_judge_requests]
