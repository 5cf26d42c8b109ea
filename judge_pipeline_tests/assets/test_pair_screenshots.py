"""From a set's files to what a judge's server receives, in the graph: screenshots shown, withheld, changed."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml

from judge_pipeline.definitions import JUDGE_PREFERENCE_SET, READ_PREFERENCE_SET, build_definitions
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace, packaged_config_dir
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS
from judge_pipeline_tests.judging.conftest import Provider, chat
from judge_pipeline_tests.judging.made_images import gif, png

pytestmark = pytest.mark.slow

SHOTS = {"one_a": png(1), "one_b": gif(), "two_a": png(2)}


@dataclass
class House:
    """A workspace with a set of two pairs with screenshots, and a judge at a loopback server."""

    workspace: Workspace
    provider: Provider

    @property
    def folder(self) -> Path:
        """The set's."""
        return self.workspace.data_dir / "preference" / "pages"

    def run(self, screenshots: str) -> pd.DataFrame:
        """Read the set and judge it, with this setting; the judge's table."""
        settings = {"natural_languages": "low", "redaction": {"screenshots": screenshots}}
        (self.folder / "preference.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        with open_instance(self.workspace) as instance:
            definitions = build_definitions(self.workspace)
            read = run_job(definitions, instance, READ_PREFERENCE_SET, "pages")
            judged = run_job(definitions, instance, JUDGE_PREFERENCE_SET, "pages", "seer", of="preference_set")
        assert read.error is None and judged.error is None, (read.error, judged.error)
        return store_of(self.workspace).read(PAIR_JUDGMENTS, "pages", "seer")

    def received(self) -> list[list[bytes]]:
        """The images of each request since the last look."""
        requests = [request.body["messages"][-1]["content"] for request in self.provider.requests]
        self.provider.requests.clear()
        urls = [[p["image_url"]["url"] for p in parts if "image_url" in p] for parts in requests]
        return [[base64.b64decode(url.partition(",")[2]) for url in of_one] for of_one in urls]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    provider = Provider()
    provider.script(chat(json.dumps({"rationale": "it is what was asked for", "choice": "A"})))
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(tmp_path))
    shutil.copytree(packaged_config_dir() / "prompts", tmp_path / "assets_config" / "prompts")
    seer = {"backend": "litellm", "model": "openai/seer", "base_url": provider.url, "transport": "direct"}
    judges = {"judges": {"seer": seer | {"systems": ["preference"], "takes_images": True}}}
    (tmp_path / "assets_config" / "judges.yaml").write_text(yaml.safe_dump(judges), encoding="utf-8")
    made = House(Workspace.find(), provider)
    (made.folder / "shots").mkdir(parents=True)
    for name, data in SHOTS.items():
        (made.folder / "shots" / f"{name}.png").write_bytes(data)
    pairs = [
        {"pair_id": pair_id, "instruction": f"a page for {pair_id}", "response_a": "<a>", "response_b": "<b>", "w": "A"}
        | {f"evidence_{side}": {"screenshot": f"shots/{pair_id}_{side}.png"} for side in "ab"}
        for pair_id in ("one", "two")
    ]
    (made.folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    yield made
    provider.close()


def test_screenshots_reach_the_judge_where_the_set_shows_them_and_a_changed_one_is_asked_about_again(
    house: House,
) -> None:
    hidden = house.run("withhold")
    assert hidden["n_screenshots"].tolist() == [0] * 4 and len(house.provider.requests) == 4
    assert hidden["screenshots_left_out"].str.contains("withheld by redaction.screenshots").all()
    assert all(isinstance(m["content"], str) for r in house.provider.requests for m in r.body["messages"])
    house.provider.requests.clear()

    shown = house.run("show").set_index(["pair_id", "presentation_order"])
    assert shown["n_screenshots"].to_dict() == {("one", "AB"): 2, ("one", "BA"): 2, ("two", "AB"): 1, ("two", "BA"): 1}
    assert shown["screenshots_left_out"].str.contains("cannot be used").sum() == 2
    one_a, one_b, two_a = SHOTS.values()
    assert sorted(house.received()) == sorted([[one_a, one_b], [one_b, one_a], [two_a], [two_a]])

    (house.folder / "shots" / "two_a.png").write_bytes(png(9))
    house.run("show")
    assert house.received() == [[png(9)], [png(9)]]
    kept = {path.read_bytes() for path in (house.workspace.out_dir / "evidence" / "pages").iterdir()}
    assert kept == {one_a, one_b, png(9)}
