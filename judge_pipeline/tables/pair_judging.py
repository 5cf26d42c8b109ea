"""Tables of judging preference pairs: what each judge chose in both presentation orders, and whose table is usable."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import JUDGE
from judge_pipeline.tables.preference import CHOICES, PAIR

PRESENTATION_ORDERS = ("AB", "BA")
"""AB shows y_A first, BA shows y_B first."""

SLOTS = ("first", "second", "tie")
"""What a judge picks among the two responses as it is shown them."""

PAIR_JUDGMENTS = Table(
    "pair_judgments",
    "One judge's choice on one pair in one presentation order; an invalid answer is a row without a choice.",
    (
        PAIR,
        Column("presentation_order", "string", "Which response stood first", allowed=PRESENTATION_ORDERS),
        JUDGE,
        Column("slot", "string", "What it picked; null where its answer is invalid", nullable=True, allowed=SLOTS),
        Column("decision", "string", "The same in terms of y_A and y_B; null where invalid", True, allowed=CHOICES),
        Column("p_first", "float", "Its probability for the first, where it gives one", True, low=0.0, high=1.0),
        Column("score_first", "float", "Score of the first response, where it scores each", nullable=True),
        Column("score_second", "float", "Score of the second response, where it scores each", nullable=True),
        Column("rationale", "string", "The judge's short reason", nullable=True),
        Column("failure_class", "string", "Class of the invalid answer; null where it is valid", nullable=True),
        Column("failure", "string", "What is wrong with it", nullable=True),
        Column("request_hash", "string", "Identity of the call; null where nothing was asked", nullable=True),
        Column("model", "string", "Model that answered, as the provider named it", nullable=True),
        Column("repair", "string", "How a malformed answer was repaired; null where it was not", nullable=True),
        Column("n_tries", "int", "Tries that the answer took; 0 where no call was needed", low=0),
        Column("latency_ms", "float", "Time of the answering try, in milliseconds", nullable=True, low=0),
        Column("tokens_in", "int", "Prompt tokens over all tries", nullable=True, low=0),
        Column("tokens_out", "int", "Answer tokens over all tries", nullable=True, low=0),
        Column("cost_usd", "float", "US dollars over all tries; null where unpriced", nullable=True, low=0),
        Column("n_screenshots", "int", "Screenshots that it was shown; null where nothing was asked", True, low=0),
        Column("screenshots_left_out", "string", "Screenshots that it was not shown, and why; null: none", True),
    ),
    ("pair_id", "presentation_order"),
)

PAIR_JUDGE_COVERAGE = Table(
    "pair_judge_coverage",
    "For one judge that serves preference sets, whether its table for this set is there and whole.",
    (
        JUDGE,
        Column("backend", "string", "Backend that answers for it"),
        Column("family", "string", "Family of judges it belongs to, by judges.yaml", nullable=True),
        Column(
            "status",
            "string",
            "State of its table",
            allowed=("verified", "unverified", "stale", "damaged", "not judged"),
        ),
        Column("scope", "string", "Pairs it was asked for, in words"),
        Column("n_in_scope", "int", "Pairs in scope", low=0),
        Column("n_judged", "int", "Pairs with a row in every order that was asked", low=0),
        Column("n_answers", "int", "Rows: pairs x orders", low=0),
        Column("n_invalid", "int", "Of these, without a valid answer", low=0),
        Column("invalid", "string", "These by failure class, as 'class: n'", nullable=True),
        Column("n_tries", "int", "Tries over all runs; null where no model is asked", nullable=True, low=0),
        Column("cost_usd", "float", "Money over all tries; null where unpriced", nullable=True, low=0),
        Column("model", "string", "Model(s) that answered", nullable=True),
        Column("reason", "string", "Why it is not verified, where it is not", nullable=True),
    ),
    ("judge",),
)

TABLES = (PAIR_JUDGMENTS, PAIR_JUDGE_COVERAGE)
"""The tables of this module."""
