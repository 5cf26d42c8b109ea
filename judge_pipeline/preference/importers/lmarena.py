"""LMArena (Chatbot Arena) human preference: one vote between two chats a row.

The forms of ``arena-human-preference-140k`` (``id``, contents as lists of parts, ``evaluation_order``), of
``arena-human-preference-100k`` and of ``chatbot_arena_conversations`` (``question_id``, contents as texts).
"""

from __future__ import annotations

from judge_pipeline.preference.drafts import LeftOut, PairDraft
from judge_pipeline.preference.fenced_code import fenced_blocks, languages_in
from judge_pipeline.preference.importers.chat_pairs import is_single_turn, split_chat
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, label_of
from judge_pipeline.settings.preference import LmArenaSource


def pair_of(values: Values, source: LmArenaSource) -> PairDraft:
    """The pair of a vote. Where both chats differ before the last question, the first one's is the context."""
    if source.only_code and str(values.get("is_code")).lower() != "true":
        raise LeftOut("is not flagged as code", "source.only_code")
    if source.first_vote_only and str(values.get("evaluation_order")).partition(".")[0] != "1":
        raise LeftOut("is not the first vote of its session", "source.first_vote_only")
    prior, prompt, answer_a = split_chat(values.get("conversation_a"), "conversation_a")
    prior_b, prompt_b, answer_b = split_chat(values.get("conversation_b"), "conversation_b")
    if source.single_turn and not (is_single_turn(prior) and is_single_turn(prior_b)):
        raise LeftOut("has more than one turn", "source.single_turn")
    _check_code(prompt, answer_a, answer_b, source)
    notes = [] if (prior, prompt) == (prior_b, prompt_b) else ["the two chats differ before their last answers"]
    return PairDraft(
        answer_a,
        answer_b,
        choice_of(values.get("winner"), "winner"),
        pair_id=label_of(values.get("id") or values.get("question_id"), "id"),
        instruction=prompt or None,
        prior_turns=prior,
        natural_language=label_of(values.get("language"), "language"),
        model_a=label_of(values.get("model_a"), "model_a"),
        model_b=label_of(values.get("model_b"), "model_b"),
        notes=notes,
    )


def _check_code(prompt: str, answer_a: str, answer_b: str, source: LmArenaSource) -> None:
    if source.fenced_prompt and not languages_in(prompt):
        raise LeftOut("the prompt holds no fenced code in a known language", "source.fenced_prompt")
    if source.fenced_code != "any" and not (fenced_blocks(answer_a) and fenced_blocks(answer_b)):
        raise LeftOut("not both answers hold fenced code", "source.fenced_code")
    if source.fenced_code == "shared_language" and not languages_in(answer_a) & languages_in(answer_b):
        raise LeftOut("the answers' fenced code has no language in common", "source.fenced_code")


IMPORTER = Importer(
    "lmarena",
    pair_of,
    "card",
    "huggingface.co/datasets/lmarena-ai/arena-human-preference-140k (card), github.com/rShar01/TRACE lmarena_utils*.py",
)
