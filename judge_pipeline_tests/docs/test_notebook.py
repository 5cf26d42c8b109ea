"""The code of the page on notebooks runs, from its first block to its last, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from judge_pipeline_tests.cocreation import scored_judges

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "use-from-a-notebook.md"


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = scored_judges.simulated(3, n_groups=60)
    run["judge"] = run["judge"].map({"a": "J1", "b": "J2", "c": "J3"})
    for name in ("predictions", "old", "new"):
        run.to_csv(f"{name}.csv", index=False)
    decisions = pd.DataFrame({"pair_id": list("pqr"), "judge": "J1", "label": list("ABA"), "decision_ab": list("ABB")})
    decisions.to_csv("decisions.csv", index=False)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert isinstance(names["test"], pd.DataFrame)
    assert {"J1", "J2", "J3"} <= set(names["test"].columns)
    assert isinstance(names["chosen"], pd.DataFrame) and set(names["chosen"]["rule"]) == {"trace"}
    assert len(names["better"]) == 3  # type: ignore[arg-type]
