"""What a configuration must decide, and the calls that it must take, from the script alone: no stage is used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from judge_pipeline.samples.scripted_judge import Script

FLIPPED = {"A": "B", "B": "A", "tie": "tie", "insufficient": "insufficient"}


@dataclass
class Expected:
    """What must come of one pair.

    Attributes:
        decision: the decision.
        verdicts: text of a criterion in force -> its verdicts in orders AB and BA, in terms of y_A and y_B.
        kept: the texts of the evidence.
        calls: stage -> requests.
    """

    decision: str
    verdicts: dict[str, tuple[str, str]] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)


def expected(
    script: Script, a: str, b: str, configuration: dict[str, Any], aspects: tuple[str, ...] | None
) -> Expected:
    """What must come of one pair under a configuration.

    Args:
        script: the judge.
        a: y_A.
        b: y_B.
        configuration: its settings.
        aspects: what its guidance names, where it has any.
    """
    if configuration.get("generator") == "none":
        return Expected(script.decision(a, b, None), calls={"monolithic": 1})
    guided = configuration.get("guidance")
    stages = () if guided is None else guided.get("stages", ("generator", "criterion_judge", "final_judge"))
    texts = list(script.generated)
    if "generator" in stages:
        texts += [text for aspect in aspects or () for text in script.if_guided.get(aspect, ())]

    def judged(text: str) -> tuple[str, str]:
        return script.verdict(a, b, text), FLIPPED[script.verdict(b, a, text)]

    scf = configuration.get("swap_filter", True)
    calls = {"generation": 1, "pairwise_verdicts": 2 if scf else 1}
    in_force = {text: judged(text) for text in texts}
    open_ = [text for text in texts if in_force[text][0] == "tie"]
    for _ in range(0 if configuration.get("refinement") == "none" else 2):
        if not open_:
            break
        calls["decomposition"] = calls.get("decomposition", 0) + 1
        made = [(parent, child) for parent in open_ for child in known(script, parent)]
        if not made:
            break
        calls["redundancy"] = calls.get("redundancy", 0) + 1
        left = [(parent, child) for parent, child in made if child not in in_force]
        if not left:
            break
        calls["conflict"] = calls.get("conflict", 0) + 1
        before = [*in_force, *(child for _, child in left)]
        accepted = [(p, child) for p, child in left if opposite(script, child) not in before]
        for parent, _ in accepted:
            in_force.pop(parent, None)
        new = [child for _, child in accepted]
        in_force |= {child: judged(child) for child in new}
        calls["child_verdicts"] = calls.get("child_verdicts", 0) + (2 if scf else 1) * bool(new)
        open_ = [child for child in new if in_force[child][0] == "tie"]
    kept = [text for text, (ab, ba) in in_force.items() if not scf or ab == ba]
    by_aspect = {each.text: each.aspect for each in script.criteria}
    evidence = [(by_aspect[text], in_force[text][0]) for text in kept]
    if not kept:
        return Expected("tie", in_force, kept, calls)
    calls["final"] = 1
    named = aspects if "final_judge" in stages else None
    return Expected(script.weighed(evidence, named), in_force, kept, calls)


def known(script: Script, text: str) -> tuple[str, ...]:
    return next((each.children for each in script.criteria if each.text == text), ())


def opposite(script: Script, text: str) -> str | None:
    return next((each.contradicts for each in script.criteria if each.text == text), None)
