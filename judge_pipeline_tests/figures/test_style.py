from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.figures import style


def luminance(color: str) -> float:
    channels = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast_on_white(color: str) -> float:
    return 1.05 / (luminance(color) + 0.05)


def test_text_colours_reach_the_contrast_that_wcag_asks_for() -> None:
    assert contrast_on_white(style.INK) >= 7
    assert contrast_on_white(style.MUTED) >= 4.5


def test_no_colour_of_the_palette_fades_into_white() -> None:
    assert all(contrast_on_white(color) >= 2 for color in style.PALETTE)


def test_seventy_series_differ_in_colour_or_marker() -> None:
    styles = [style.series_style(k) for k in range(70)]
    assert len({(s.color, s.marker) for s in styles}) == 70


@given(st.lists(st.text(max_size=60), max_size=12))
def test_short_names_stay_short_and_different(names: list[str]) -> None:
    short = style.short_names(names, 20)
    assert set(short) == set(names)
    assert len(set(short.values())) == len(short)
    assert all(len(name) <= 20 + len(" (12)") for name in short.values())


def test_a_long_name_keeps_its_beginning_and_end() -> None:
    name = "provider.model-family-2026-11-29-preview"
    assert style.short_names([name], 20)[name] == "provider.m…9-preview"


@given(st.text())
def test_plain_text_holds_no_tag_no_entity_and_no_control_character(text: str) -> None:
    shown = style.plain(text)
    assert "<" not in shown
    assert ">" not in shown
    assert shown.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").count("&") == 0
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs") for c in shown)


def test_direction_changing_characters_and_lone_surrogates_are_taken_out() -> None:
    assert style.clean("a\u202eb\ud800c\nd\u00a0e") == "a b c d\u00a0e"


@given(
    st.integers(1, 40), st.integers(60, 400), st.integers(60, 300), st.integers(200, 1400), st.booleans()
)  # fmt: skip
def test_panels_lie_inside_and_do_not_overlap(
    count: int, height: int, min_width: int, inner: int, square: bool
) -> None:
    facets = style.Facets(count, height=height, min_width=min_width, square=square)
    domains = facets.domains(inner)
    assert len(domains) == count
    for k, ((left, right), (bottom, top)) in enumerate(domains):
        assert 0 <= left < right <= 1
        assert -1e-9 <= bottom < top <= 1 + 1e-9
        for (l2, r2), (b2, t2) in domains[k + 1 :]:
            assert right <= l2 or r2 <= left or top <= b2 or t2 <= bottom


def test_a_figure_is_drawn_or_has_a_reason() -> None:
    with pytest.raises(ValueError, match="drawn or has a reason"):
        style.DrawnFigure("x", "X", "n = 0", "X")
    with pytest.raises(ValueError, match="drawn or has a reason"):
        style.DrawnFigure("x", "X", "n = 0", "X", style.new_figure("X", "n = 0", 100), reason="why")


def test_titles_are_escaped() -> None:
    figure = style.new_figure("<b>x</b> & y", "<i>n</i>", 200)
    assert figure.layout.title.text == "&lt;b&gt;x&lt;/b&gt; &amp; y"
    assert figure.layout.title.subtitle.text == "&lt;i&gt;n&lt;/i&gt;"


def test_no_font_is_loaded_from_elsewhere() -> None:
    assert "http" not in style.template().to_plotly_json().__repr__()


def test_what_is_changed_in_one_figure_s_template_is_in_no_other() -> None:
    changed, other = style.new_figure("a", "b", 100), style.new_figure("a", "b", 100)
    changed.layout.template.layout.font.size = 99
    for template in (other.layout.template, style.new_figure("a", "b", 100).layout.template):
        assert template.to_plotly_json() == style.template().to_plotly_json()
        assert template.layout.font.size == 12
