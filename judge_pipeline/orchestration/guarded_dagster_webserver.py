"""Dagster's webserver behind ``RequestGuard``: ``python -m judge_pipeline.orchestration.guarded_dagster_webserver``.

Options are those of ``dagster-webserver``.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from judge_pipeline.orchestration.links import UI_URL
from judge_pipeline.orchestration.own_addresses import OwnAddresses
from judge_pipeline.orchestration.request_guard import RequestGuard
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError


def main() -> None:
    """Serve until stopped. Whatever Dagster gives uvicorn to serve is guarded."""
    import uvicorn
    from dagster_webserver.cli import main as dagster_main

    try:
        public = os.environ.get(UI_URL) or Workspace.find().automation().links.ui_url
    except SettingsError as error:
        sys.exit(f"Error: {error}")
    serve = uvicorn.run

    def serve_guarded(app: Any, *, host: str, **options: Any) -> None:
        serve(RequestGuard(app, OwnAddresses.of(host, public)), host=host, **options)

    uvicorn.run = serve_guarded  # type: ignore[assignment]
    dagster_main()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
