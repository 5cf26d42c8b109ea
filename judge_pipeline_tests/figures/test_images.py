"""Images by a real Chromium; and what is said where there is none, or no kaleido."""

from __future__ import annotations

import builtins
import shutil
import struct
import sys
from typing import Any

import pytest

from judge_pipeline.figures import style
from judge_pipeline.figures.cross_metric import cross_metric_figure
from judge_pipeline.figures.dynamics import success_figure
from judge_pipeline.figures.images import ImageError, images, standing_alone
from judge_pipeline.figures.judges import roc_figure
from judge_pipeline_tests.report.made_tables import HOSTILE, MANY_JUDGES, Made, made_tables

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the PATH")


@needs_chromium
@pytest.mark.slow
@pytest.mark.browser
def test_png_and_svg_are_drawn_whole_and_the_same_again() -> None:
    made = made_tables(Made(judges=(f"simulated-{HOSTILE}", "b"), participants=20))
    figures = [success_figure(made.success_at_turn), cross_metric_figure(made.judge_metrics)]
    nothing = style.not_drawn("nothing", "Nothing", "there is none")
    png = images([*figures, nothing], "png")
    assert set(png) == {"success.png", "cross-metric.png"}
    for name, data in png.items():
        assert data.startswith(b"\x89PNG")
        width, _ = struct.unpack(">II", data[16:24])
        assert width == 2 * standing_alone(figures[name.startswith("cross")]).layout.width
    svg, again = images(figures, "svg"), images(figures, "svg")
    assert svg == again
    text = svg["cross-metric.svg"].decode()
    assert "n = " in text and "ROC-AUC" in text
    assert "<img" not in text and "<script" not in text and 'href="http' not in text


@pytest.mark.slow
def test_alone_it_has_its_title_and_a_key_below_at_a_fixed_width() -> None:
    made = made_tables(Made(judges=MANY_JUDGES))
    alone = standing_alone(cross_metric_figure(made.judge_metrics))
    assert alone.layout.showlegend and alone.layout.width == style.NOMINAL_WIDTH
    named = [trace.name for trace in alone.data if trace.showlegend is not False and trace.mode == "markers"]
    assert named == list(MANY_JUDGES)
    plain = standing_alone(roc_figure(made.judge_curves, made.judge_metrics))
    assert not plain.layout.showlegend and "ROC curves" in plain.layout.title.text


@pytest.mark.parametrize("path", ["/no/such/browser", "/bin/false"])
@pytest.mark.slow
def test_without_a_browser_it_names_the_remedy(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", path)
    with pytest.raises(ImageError, match=r"apt install chromium.*BROWSER_PATH"):
        images([success_figure(made_tables().success_at_turn)])


def test_without_kaleido_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "kaleido":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "kaleido", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImageError, match=r"judge-pipeline\[images\]"):
        images([success_figure(made_tables().success_at_turn)])
