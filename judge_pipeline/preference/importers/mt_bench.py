"""MT-Bench human judgments: annotators' votes between two models' chats of one or two turns (Zheng et al., 2023).

A row is one annotator's vote. Votes on the same question, turn and two models become one pair, whichever model the row
names first; w is their majority.
"""

from __future__ import annotations

from judge_pipeline.preference.drafts import LeftOut, PairDraft
from judge_pipeline.preference.importers.chat_pairs import split_chat
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, label_of, turns_of
from judge_pipeline.settings.preference import MtBenchSource

_TURNS = {"both": ("1", "2"), "first": ("1",), "second": ("2",)}


def pair_of(values: Values, source: MtBenchSource) -> PairDraft:
    """The vote of a row. Of a chat that goes on, what is behind the judged turn is left away."""
    turn = label_of(values.get("turn"), "turn") or "1"
    if turn not in _TURNS[source.turns]:
        raise LeftOut("is a vote on another turn", "source.turns")
    chats = [turns_of(values.get(f"conversation_{x}"), f"conversation_{x}")[: 2 * int(turn)] for x in "ab"]
    (prior, prompt, answer_a), (_, _, answer_b) = (
        split_chat([{"role": role, "content": text} for role, text in chat], f"conversation_{x}")
        for chat, x in zip(chats, "ab", strict=True)
    )
    model_a, model_b = (label_of(values.get(f"model_{x}"), f"model_{x}") or x for x in "ab")
    question = label_of(values.get("question_id"), "question_id") or ""
    annotator = label_of(values.get("judge"), "judge") or "unnamed"
    draft = PairDraft(
        answer_a,
        answer_b,
        None,
        instruction=prompt or None,
        # The second turn's context holds the model's own first answer: that of model A stands for both.
        prior_turns=prior,
        category=f"turn {turn}",
        votes={annotator: choice_of(values.get("winner"), "winner")},
        model_a=model_a,
        model_b=model_b,
        no_majority=source.no_majority,
        notes=["the chats differ in their first answers; the context is model A's"] if turn == "2" else [],
    )
    if model_a > model_b:
        draft.swap()
        draft.prior_turns = split_chat([{"role": r, "content": t} for r, t in chats[1]], "conversation_b")[0]
        draft.swapped = False  # the order of the names is how the pair is told, not a choice of ours
    draft.pair_id = f"{question}-{turn}-{draft.model_a}-{draft.model_b}"
    draft.vote_of = draft.pair_id
    return draft


IMPORTER = Importer("mt_bench", pair_of, "card", "huggingface.co/datasets/lmsys/mt_bench_human_judgments (card)")
