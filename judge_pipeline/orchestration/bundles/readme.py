"""``README.txt`` of a bundle: for whoever opens it without knowing this project."""

from __future__ import annotations

from judge_pipeline.orchestration.bundles.facts import (
    ANSWERS,
    CONFIG,
    CRATE,
    DATA,
    FACTS,
    MANIFEST,
    OUT,
    VERSIONS,
    BundleFacts,
)

_WHAT = {"contest": "contest", "preference_set": "preference set"}
_LEVELS = {
    "full": "Full: it holds raw files, names and texts as they are. Whoever has it holds personal data of people.",
    "redacted": (
        "Redacted: no raw files; participants and annotators stand under pseudonyms; texts are those that judges\n"
        "were sent, in which personal data that were recognized are replaced. Whoever knows a program or a prompt may\n"
        "still recognize whose it is."
    ),
}

_NOTHING = "  Nothing that a figure rests on is withheld.\n"


def readme_text(facts: BundleFacts) -> str:
    """The text."""
    title = f"Audit bundle of {_WHAT[facts.kind]} {facts.name}"
    withheld = "".join(f"  {name}: {why}\n" for name, why in sorted(facts.withheld.items()))
    return f"""{title}
{"=" * len(title)}

What the figures of this {_WHAT[facts.kind]} rest on, made by judge-pipeline {facts.version}.

{_LEVELS[facts.level]}

To check it
-----------
  sha256sum -c {MANIFEST}       every file is as it was packed
  judge-pipeline verify FILE.zip         the same, and every table made anew from what is in here. It needs no
                                         workspace, no key and no network, and asks no judge anything.

What is where
-------------
  {FACTS:<22} of what it is, and what is withheld
  {CRATE:<22} every file with its sha256, after RO-Crate
  {CONFIG + "/":<22} judges, settings, prompt templates: what decides on the numbers. No key is in it.
  {DATA + "/":<22} raw files, where they may go out
  {ANSWERS + "/":<22} what judges were asked (requests), each try (calls), what counts (judgments); JSON lines
  {OUT + "/tables/":<22} every table, Parquet
  {OUT + "/ledgers/":<22} which split each trajectory or instruction was given
  {OUT + "/reports/":<22} the pages that people read
  {VERSIONS + "/":<22} what ran: sources, packages, Python

What is not in it
-----------------
{withheld or _NOTHING}"""
