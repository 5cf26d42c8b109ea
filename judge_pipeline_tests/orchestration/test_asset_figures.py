from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from judge_pipeline.definitions import build_definitions
from judge_pipeline.orchestration import forgetting
from judge_pipeline.orchestration.exports import figures_path
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.report.asset_figures import ASSETS_WITH_FIGURES, LIBRARY, OF_PREFERENCE_SETS
from judge_pipeline.settings import Workspace


def test_the_assets_that_say_they_show_figures_are_those_that_have_some(tmp_path: Path) -> None:
    assets = build_definitions(Workspace.find({}, tmp_path)).resolve_asset_graph()
    tables = {key for key in assets.get_all_asset_keys() if "parquet" in assets.get(key).kinds}
    assert {key.path[-1] for key in tables if "plotly" in assets.get(key).kinds} == ASSETS_WITH_FIGURES


@pytest.mark.slow
def test_a_run_leaves_pages_that_metadata_lead_to_and_a_withdrawal_removes(copy_of_reported_home: Path) -> None:
    workspace = Workspace.find({}, copy_of_reported_home)
    folder = figures_path(workspace, "mini", "any").parent
    of_contests = ASSETS_WITH_FIGURES - set(OF_PREFERENCE_SETS)
    assert {file.name for file in folder.iterdir()} == {f"{asset}.html" for asset in of_contests} | {LIBRARY}
    with open_instance(workspace) as instance:
        for asset in sorted(of_contests):
            event = instance.get_latest_materialization_event(dg.AssetKey(asset))
            assert event is not None and event.asset_materialization is not None
            shown = event.asset_materialization.metadata
            assert shown["figures"] == dg.MetadataValue.url(f"http://127.0.0.1:3001/mini/figures/{asset}.html")
            assert str(shown["figures_file"].value).endswith(f"reports/mini/figures/{asset}.html")
            assert isinstance(shown["figures_in_words"], dg.MarkdownMetadataValue)
            assert (
                str(shown["picture"].value).startswith("![")
                and "](data:image/svg+xml;base64," in shown["picture"].value
            )
    assert any(b"E003" in file.read_bytes() for file in folder.glob("*.html"))
    forgetting.forget(workspace, "mini", "E003", "2026-11-30")
    assert not folder.exists()
