"""Which table is made from which, as the Dagster definitions have it: pure code gets it as a mapping."""

from __future__ import annotations

import dagster as dg


def asset_graph(definitions: dg.Definitions) -> dict[str, tuple[str, ...]]:
    """Asset -> the assets that it is made from, sorted."""
    graph = definitions.resolve_asset_graph()
    return {
        key.to_user_string(): tuple(sorted(parent.to_user_string() for parent in graph.get(key).parent_keys))
        for key in graph.get_all_asset_keys()
    }


def asset_groups(definitions: dg.Definitions) -> dict[str, str]:
    """Asset -> its group in the UI."""
    graph = definitions.resolve_asset_graph()
    return {key.to_user_string(): str(graph.get(key).group_name) for key in graph.get_all_asset_keys()}
