"""An asset's figures: a page below the reports of the contest or preference set, and what the UI shows of it.

The pages lie in the folder of the report, which a withdrawal removes as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.exports import figures_path
from judge_pipeline.orchestration.links import page_link
from judge_pipeline.orchestration.whole_files import write_whole

if TYPE_CHECKING:
    import pandas as pd


def write_figures(
    context: dg.AssetExecutionContext, asset: str, tables: Mapping[str, pd.DataFrame], code_version: str
) -> dict[str, Any]:
    """Draw the asset's figures, write their page, and give the metadata that leads to it.

    Args:
        context: of the asset's step, for one contest or preference set.
        asset: one of ``report.asset_figures.ASSETS_WITH_FIGURES``.
        tables: name -> table: the asset's own, and its inputs.
        code_version: of the asset, for the foot of the page.
    """
    from judge_pipeline.report.asset_figures import (
        LIBRARY,
        OF_PREFERENCE_SETS,
        asset_figures,
        figures_markdown,
        figures_page,
        first_picture,
    )
    from judge_pipeline.report.page import plotly_js

    partition = str(context.partition_key)
    resource = context.resources.workspace
    chosen_by = resource.preference(partition).chosen_by if asset in OF_PREFERENCE_SETS else None
    figures, views = asset_figures(asset, tables, chosen_by)
    page = figures_page(asset, partition, figures, views, code_version, chosen_by)
    path = figures_path(resource.workspace(), partition, asset)
    _write_where_other(path.with_name(LIBRARY), plotly_js().encode())
    write_whole(path, page.encode("utf-8", "replace"))
    return {
        "figures": page_link(resource.workspace(), path),
        "figures_file": dg.MetadataValue.path(str(path)),
        **({"picture": dg.MetadataValue.md(picture)} if (picture := first_picture(figures)) else {}),
        "figures_in_words": dg.MetadataValue.md(figures_markdown(figures, views)),
    }


def _write_where_other(path: Path, data: bytes) -> None:
    """Write a file that the pages of many steps share, unless it is there as it should be."""
    if not path.is_file() or path.read_bytes() != data:
        write_whole(path, data)
