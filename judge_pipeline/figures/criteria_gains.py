"""What configurations of one judge reach and gain, with intervals, a row a configuration (CriterAlign, Table 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_pipeline.figures import style
from judge_pipeline.figures.criteria_figures import configurations_of, figures_of, highest_floor
from judge_pipeline.figures.estimates import format_number, n_in_words, said
from judge_pipeline.figures.forest import forest_panel

if TYPE_CHECKING:
    import pandas as pd


def criteria_gains_figure(ablation: pd.DataFrame, judge: str, name: str, called: str) -> style.DrawnFigure:
    """Acc beside the highest floor, and the gain over the judge's own monolithic configuration beside none.

    Args:
        ablation: table CRITERIA_ABLATION.
        judge: the judge.
        name: a slug for the figure.
        called: what the judge is called on the page.
    """
    title = f"What configurations of {called} reach and gain"
    names = configurations_of(ablation, judge)
    acc, gain = (figures_of(ablation, judge, figure) for figure in ("acc", "gain_over_monolithic"))
    if not any(estimate.value is not None for estimate in acc.values()):
        return style.not_drawn(name, title, "no configuration has decided a pair")
    floor, level = highest_floor(ablation)
    subtitle = f"{n_in_words((acc[each].n for each in names if each in acc), 'pairs a configuration')}; 95% intervals"
    facets = style.Facets(2, height=40 * len(names) + 8, min_width=290, gap_x=36, gap_y=78)
    y_axis = {"visible": False, "range": [-len(names), 0.06]}
    figure = style.facet_figure(title, subtitle, facets, {}, y_axis, left=12)
    short = style.short_names(names, 26)
    dashed = "no floor" if level is None else f"dashed: {floor}, {format_number(level, 2)}"
    annotations: list[dict[str, Any]] = style.facet_heading(0, "Acc ↑", dashed)
    annotations += forest_panel(figure, 0, {each: acc.get(each) for each in names}, short, (0.0, 1.0), level)
    annotations += style.facet_heading(1, "Gain over monolithic ↑", "dashed: none")
    annotations += forest_panel(figure, 1, {each: gain.get(each) for each in names}, short, (-0.2, 0.2), 0.0)
    figure.update_layout(annotations=annotations)
    columns = {each: {"acc": acc[each]} for each in names if each in acc}
    for each, estimate in gain.items():
        columns.setdefault(each, {})["gain"] = estimate
    words = f"{said(names, columns, 'acc', 'Acc')} {said(names, columns, 'gain', 'Gain over monolithic')}"
    notes = ("Not computed: the judge's own monolithic configuration, or nothing to hold the row against.",)
    return style.DrawnFigure(name, title, subtitle, f"{title}, {subtitle}. {words}", figure, notes=notes)
