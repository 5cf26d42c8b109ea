"""BigCodeReward and BigCodeArena's preferences: votes between two programs that were run, with what running them gave.

The vote stands in ``human_vote`` or ``vote_type``; the responses are the last messages of ``states.model_A`` and
``states.model_B``; ``feedback`` holds the aspects that people stated (BigCodeArena preference 5k).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_pipeline.preference.drafts import BOTH_BAD, Faulty, LeftOut, PairDraft, Turn
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, label_of, mapping_of, response_of, said_in, text_of, within
from judge_pipeline.preference.screenshots import source_of
from judge_pipeline.settings.preference import BigCodeRewardSource

_VOTES = {
    "vote_model_A": "A", "vote_left": "A", "vote_model_B": "B", "vote_right": "B", "vote_tie": "tie",
    "vote_both_bad": BOTH_BAD,
}  # fmt: skip
_ROLES = {"human": "user"}


def pair_of(values: Values, source: BigCodeRewardSource) -> PairDraft:
    """The pair of a session."""
    feedback = mapping_of(values.get("feedback"), "feedback")
    vote = values.get("human_vote") or values.get("vote_type") or feedback.get("vote_type")
    states = mapping_of(values.get("states"), "states")
    turns_a, turns_b = _turns(states, "model_A"), _turns(states, "model_B")
    if source.single_turn and len(turns_a) > 2:
        raise LeftOut("has more than one turn", "source.single_turn")
    models = {**mapping_of(values.get("models"), "models"), **values}
    return PairDraft(
        response_of(turns_a[-1][1], "states.model_A"),
        response_of(turns_b[-1][1], "states.model_B"),
        choice_of(vote, "human_vote", _VOTES),
        pair_id=label_of(values.get("chat_session_id"), "chat_session_id"),
        instruction=_question(turns_a) or text_of(values.get("instruction"), "instruction"),
        prior_turns=turns_a[:-2],
        category=label_of(values.get("category_name"), "category_name"),
        language=_code_language(states),
        evidence_a=_evidence(values, states, "A"),
        evidence_b=_evidence(values, states, "B"),
        aspects={
            aspect: choice_of(said, f"feedback.{aspect}", _VOTES)
            if isinstance(said, str) and said in _VOTES
            else str(said)
            for aspect, said in feedback.items()
            if aspect != "vote_type"
        },
        model_a=label_of(models.get("model_A"), "model_A"),
        model_b=label_of(models.get("model_B"), "model_B"),
    )


def _turns(states: Mapping[str, Any], model: str) -> list[Turn]:
    """A model's messages: pairs of a role and a text."""
    messages = within(states, model, "messages")
    if not isinstance(messages, list) or not messages:
        raise Faulty(f"states.{model}.messages", messages, "holds no messages", "remove the row")
    turns = []
    for message in messages:
        if not isinstance(message, list) or len(message) < 2 or message[-1] is None:
            raise Faulty(f"states.{model}.messages", message, "is no pair of a role and a text", "remove the row")
        role = str(message[0]).lower()
        turns.append((_ROLES.get(role, role), said_in(message[-1], f"states.{model}.messages")))
    if turns[-1][0] == "user":
        raise Faulty(f"states.{model}.messages", messages[-1], "ends with a question and no answer", "remove the row")
    return turns


def _question(turns: list[Turn]) -> str | None:
    return turns[-2][1] or None if len(turns) >= 2 else None


def _last_run(states: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The sandbox's state after the last round that was run; empty where none was."""
    rounds = within(states, model, "sandbox_logs_by_round")
    entries = rounds.items() if isinstance(rounds, Mapping) else ()
    numbered = [(int(key), entry) for key, entry in entries if str(key).isdigit() and isinstance(entry, Mapping)]
    for _, entry in sorted(numbered, key=lambda item: -item[0]):
        if isinstance(entry.get("sandbox_state"), Mapping):
            return entry["sandbox_state"]  # type: ignore[no-any-return]  # just seen to be one
    return {}


def _evidence(values: Values, states: Mapping[str, Any], side: str) -> dict[str, Any]:
    """What running gave: output and error as text, and the screenshot: the image itself, or its path where stated."""
    run = _last_run(states, f"model_{side}")
    found = {
        "output": values.get(f"execution_output_{side}") or run.get("sandbox_output"),
        "error": values.get(f"execution_error_{side}") or run.get("sandbox_error"),
        "screenshot": source_of(values.get(f"execution_screenshot_{side}"))
        or source_of(run.get("screenshot_path"))
        or _of_base64(run.get("screenshot_base64")),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value.strip()}


def _of_base64(encoded: Any) -> str | None:
    """The data URL of a PNG, as the sandbox keeps its screenshots."""
    if not isinstance(encoded, str) or not encoded.strip():
        return None
    return encoded if encoded.startswith("data:") else f"data:image/png;base64,{encoded}"


def _code_language(states: Mapping[str, Any]) -> str | None:
    return label_of(_last_run(states, "model_A").get("code_language"), "code_language")


IMPORTER = Importer(
    "bigcodereward",
    pair_of,
    "loader",
    "huggingface.co/datasets/bigcode/bigcodereward and bigcodearena-preference-5k (cards); a public copy of "
    "bigcode-project/bigcodearena, bigcodereward/eval_hf_data.py",
)
