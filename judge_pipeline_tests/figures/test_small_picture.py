from __future__ import annotations

import math
import re
from typing import Any
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.figures.small_picture import HEIGHT, MAX_BYTES, WIDTH, small_picture
from judge_pipeline.figures.style import plain

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert(1)</script>&\"'"


def elements(svg: str | None, name: str) -> list[ElementTree.Element]:
    assert svg is not None
    return list(ElementTree.fromstring(svg).iter(f"{SVG}{name}"))


def texts(svg: str | None) -> list[str]:
    return ["".join(element.itertext()) for element in elements(svg, "text")]


def test_points_stand_where_their_values_say() -> None:
    figure = go.Figure(go.Scatter(x=[0, 5, 10], y=[0, 1, 4], mode="markers"))
    (x0, y0), (x1, y1), (x2, y2) = [
        (float(c.attrib["cx"]), float(c.attrib["cy"])) for c in elements(small_picture(figure, "Three"), "circle")
    ]
    assert x1 == pytest.approx((x0 + x2) / 2, abs=0.1)
    assert (y0 - y1) / (y0 - y2) == pytest.approx(1 / 4, abs=0.01)
    assert 0 < x0 < x2 < WIDTH and 0 < y2 < y0 < HEIGHT


def test_bars_stand_on_one_another_or_beside_each_other_as_the_figure_says() -> None:
    bars = [go.Bar(x=["a", "b"], y=[1, 2]), go.Bar(x=["a", "b"], y=[3, 4])]
    heaped = elements(small_picture(go.Figure(bars, {"barmode": "stack"}), "Bars"), "rect")[1:]
    (first, second) = heaped[0], heaped[2]
    assert float(second.attrib["y"]) + float(second.attrib["height"]) == pytest.approx(
        float(first.attrib["y"]), abs=0.2
    )
    assert float(second.attrib["height"]) / float(first.attrib["height"]) == pytest.approx(3, abs=0.05)
    beside = elements(small_picture(go.Figure(bars), "Bars"), "rect")[1:]
    assert float(beside[2].attrib["x"]) == pytest.approx(
        float(beside[0].attrib["x"]) + float(beside[0].attrib["width"]), abs=0.2
    )


def test_intervals_bands_and_steps_are_drawn() -> None:
    figure = go.Figure(
        [
            go.Scatter(x=[1, 2], y=[0.1, 0.2], line={"width": 0}, mode="lines"),
            go.Scatter(x=[1, 2], y=[0.5, 0.6], line={"width": 0}, mode="lines", fill="tonexty"),
            go.Scatter(x=[1, 2], y=[0.3, 0.4], mode="lines", line={"shape": "hv"}),
            go.Scatter(x=[1], y=[0.3], mode="markers", error_y={"array": [0.2], "arrayminus": [0.1]}),
        ]
    )
    ways = [path.attrib["d"] for path in elements(small_picture(figure, "All"), "path")]
    assert sum(way.endswith("Z") for way in ways) == 1
    assert any(re.fullmatch(r"M[\d.]+ [\d.]+H[\d.]+V[\d.]+", way) for way in ways)
    (interval,) = [re.fullmatch(r"M([\d.]+) ([\d.]+)V([\d.]+)", w) for w in ways if "V" in w and "H" not in w][-1:]
    dot = elements(small_picture(figure, "All"), "circle")[0]
    assert interval is not None and interval[1] == dot.attrib["cx"]
    assert float(interval[3]) < float(dot.attrib["cy"]) < float(interval[2])


def test_cells_of_a_heatmap_stand_in_their_place_with_their_values() -> None:
    cells = go.Heatmap(x=[1, 2], y=[1, 2], z=[[None, -1.0], [1.0, 0.25]], zmin=-1, zmax=1, colorscale=SCALE)
    figure = go.Figure(cells).update_yaxes(range=[2.5, 0.5], tickvals=[1, 2], ticktext=["1 ann", "2 bob"])
    svg = small_picture(figure.update_xaxes(range=[0.5, 2.5]), "Kappas")
    (right, left, below) = elements(svg, "rect")[1:]
    assert [box.attrib["fill"] for box in (right, left)] == ["rgb(255, 0, 0)", "rgb(0, 0, 255)"]
    assert float(right.attrib["x"]) == float(below.attrib["x"]) > float(left.attrib["x"])
    assert (
        float(right.attrib["y"]) + float(right.attrib["height"]) < float(left.attrib["y"]) == float(below.attrib["y"])
    )
    assert {"-1.00", "1.00", "0.25", "1 ann", "2 bob"} <= set(texts(svg))


def test_names_of_people_stay_text() -> None:
    figure = go.Figure(
        go.Scatter(x=[1, 2], y=[plain(HOSTILE), "b"], mode="markers"),
        {"xaxis": {"title": {"text": plain(HOSTILE)}}, "yaxis": {"title": {"text": "Share<br>solved"}}},
    )
    svg = small_picture(figure, plain(HOSTILE))
    assert elements(svg, "script") == [] and HOSTILE in texts(svg) and "Share solved" in texts(svg)
    assert elements(svg, "title")[0].text == HOSTILE
    assert svg == small_picture(figure, plain(HOSTILE))
    raw = small_picture(go.Figure(go.Scatter(x=[1, 2], y=[HOSTILE, "b"], mode="markers")), HOSTILE)
    assert elements(raw, "script") == []


def test_only_the_first_panel_is_drawn_and_nothing_where_there_is_nothing() -> None:
    two = go.Figure([go.Scatter(x=[1], y=[1], mode="markers"), go.Scatter(x=[1], y=[9], mode="markers", xaxis="x2")])
    assert len(elements(small_picture(two, "Two"), "circle")) == 1
    assert small_picture(go.Figure(), "None") is None
    assert small_picture(go.Figure(go.Scatter(x=[], y=[])), "Empty") is None
    assert small_picture(go.Figure(go.Heatmap(z=[[1]])), "Other") is None


def test_one_that_would_be_too_large_is_left_out() -> None:
    many = list(range(5_000))
    assert small_picture(go.Figure(go.Scatter(x=many, y=[math.sin(x) for x in many], mode="lines")), "Many") is None


SCALE = [[0.0, "#ff0000"], [0.5, "#ffffff"], [1.0, "#0000ff"]]
NUMBERS = st.lists(st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.integers(), max_size=8)


@given(x=NUMBERS | st.lists(st.text(max_size=5), max_size=8), y=NUMBERS, kind=st.sampled_from([go.Scatter, go.Bar]))
def test_whatever_is_drawn_is_one_picture_within_its_frame(x: list[Any], y: list[Any], kind: Any) -> None:
    svg = small_picture(go.Figure(kind(x=x, y=y)), "Anything")
    if svg is None:
        return
    assert len(svg.encode()) <= MAX_BYTES
    drawn = [value for element in ElementTree.fromstring(svg).iter() for value in element.attrib.values()]
    assert not any("nan" in value or "inf" in value for value in drawn)
    for circle in elements(svg, "circle"):
        assert 0 <= float(circle.attrib["cx"]) <= WIDTH and 0 <= float(circle.attrib["cy"]) <= HEIGHT
