"""Make the screenshots of docs/images/ from the sample contest and the sample preference set.

    .venv/bin/python docs/make_screenshots.py [--out FOLDER [--only-pictures]] [NAME ...]

The samples are run with the simulated judges and the baselines, which need no model, into a new folder or into FOLDER;
with ``--only-pictures`` FOLDER is taken as it is. Then ``judge-pipeline ui`` is started and looked at in Chromium. It
takes a few minutes. Look at every picture before it is committed.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.served_ui import served_ui

CHECKOUT = Path(__file__).resolve().parent.parent
IMAGES = CHECKOUT / "docs" / "images"
CONTEST, PAIRS = "sample-contest", "sample-pairs"
JUDGES = "baseline-text,simulated-sharp,simulated-lenient,simulated-overconfident,simulated-noisy"
CHOOSERS = "baseline-length,baseline-edit-size,simulated-pairs-sharp,simulated-pairs-noisy"
REPORTS_PORT = 3001
"""Where links lead that were made before the UI was started."""

MAX_BYTES = 150_000


def main() -> None:
    """Run the samples, start the UI, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder of results, to be kept")
    parser.add_argument("--only-pictures", action="store_true", help="run nothing: the folder holds the results")
    parser.add_argument("names", nargs="*", metavar="NAME", help="pictures to take; all where none is named")
    given = parser.parse_args()
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        out, home = (given.out or Path(folder) / "var").resolve(), _home(Path(folder) / "home")
        samples = CHECKOUT / "judge_pipeline" / "samples"
        if not given.only_pictures:
            _run(home, out, "run", str(samples / "contests" / CONTEST), "--judges", JUDGES)
            _run(home, out, "preference", str(samples / "preference_sets" / PAIRS), "--judges", CHOOSERS)
        with served_ui(home, out, reports_port=REPORTS_PORT) as (url, reports), chromium() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 800}, base_url=url)
            page.set_default_timeout(120_000)
            for name in given.names or PICTURES:
                shown = PICTURES[name](page, reports) or page
                size = _save(shown.screenshot(), IMAGES / f"{name}.png")
                print(f"{name}.png {size:,} bytes", flush=True)
                if size > MAX_BYTES:
                    raise SystemExit(f"{name}.png is larger than {MAX_BYTES:,} bytes")


def _save(png: bytes, file: Path) -> int:
    """Save the picture in 256 colours, and say how large it is."""
    Image.open(io.BytesIO(png)).convert("RGB").quantize(256).save(file, optimize=True)
    return file.stat().st_size


def _home(home: Path) -> Path:
    """The checkout's settings, with nothing that starts by itself."""
    shutil.copytree(CHECKOUT / "assets_config", home / "assets_config")
    watching_nothing = "watch: {contests: false, preference_sets: false}\n"
    (home / "assets_config" / "automation.yaml").write_text(watching_nothing, encoding="utf-8")
    for name in ("dagster.yaml", "workspace.yaml"):  # which names the code location in the UI's addresses
        shutil.copy(CHECKOUT / name, home)
    return home


def _run(home: Path, out: Path, *arguments: str) -> None:
    environment = os.environ | {"JUDGE_PIPELINE_HOME": str(home), "JUDGE_PIPELINE_OUT": str(out)}
    subprocess.run([sys.executable, "-m", "judge_pipeline.cli.main", *arguments], env=environment, check=True)


def _settled(page: Page, seconds: float = 2.5) -> None:
    page.wait_for_timeout(seconds * 1000)


def lineage(page: Page, _: str) -> None:
    """The graph, its groups closed."""
    page.goto("/asset-groups")
    page.get_by_text("time_to_success", exact=True).first.wait_for()
    _settled(page)


def asset(page: Page, _: str) -> None:
    """An asset's page: what it is, where it belongs, its columns."""
    page.goto("/assets/success_at_turn?view=overview")
    page.get_by_text("Column name").first.wait_for()
    _settled(page)


def figure(page: Page, _: str) -> Locator:
    """The picture of its figure."""
    page.goto("/assets/success_at_turn?view=overview")
    row = page.locator("tr", has=page.get_by_text("picture", exact=True))
    row.get_by_text("Show Markdown").click()
    _settled(page)
    return page.get_by_role("dialog")


def partition(page: Page, _: str) -> None:
    """One judge's table of one contest, with the ways to the report and to each judgment."""
    page.goto(f"/assets/judge_outputs?view=partitions&partition={CONTEST}%7Csimulated-sharp")
    page.get_by_text("judgments", exact=True).first.wait_for()
    _settled(page)


def launch_form(page: Page, _: str) -> None:
    """The launchpad of a job that asks a judge."""
    page.goto("/locations/judge_pipeline/jobs/judge_contest")
    button = page.get_by_role("button", name="Materialize all").first
    button.wait_for()
    _settled(page)
    button.click(modifiers=["Shift"])
    field = page.get_by_role("dialog").get_by_text("ceiling_usd").first
    field.wait_for()
    _settled(page, 3)
    field.click()
    _settled(page, 3)


def failed_check(page: Page, _: str) -> None:
    """A check that failed, and what to do."""
    page.goto("/assets/preference_accuracy?view=checks&checkDetail=floors_beaten")
    page.get_by_text(re.compile("To do: ")).first.wait_for()
    _settled(page)


def runs(page: Page, _: str) -> None:
    """What ran."""
    page.goto("/runs?q%5B0%5D=tag%3Adagster%2Fpartition%3Dsample-contest")
    page.get_by_text(re.compile("report_")).first.wait_for()
    _settled(page)


def report(page: Page, reports: str) -> None:
    """The report to which the UI links."""
    page.goto(f"{reports}/{CONTEST}/cocreation_report.html")
    _settled(page)


PICTURES: dict[str, Callable[[Page, str], Locator | None]] = {
    "ui-lineage": lineage,
    "ui-asset": asset,
    "ui-figure": figure,
    "ui-partition": partition,
    "ui-launch-form": launch_form,
    "ui-failed-check": failed_check,
    "ui-runs": runs,
    "report": report,
}


if __name__ == "__main__":
    main()
