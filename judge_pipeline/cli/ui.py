"""``judge-pipeline ui``: the Dagster UI, on loopback, over this workspace, and its reports beside it."""

from __future__ import annotations

import errno
import os
import socket
from contextlib import suppress

import click

from judge_pipeline.settings import Workspace

_LAST_PORT = 65_535


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others can reach 0.0.0.0.")
@click.option("--port", default=3000, show_default=True, type=click.IntRange(1, _LAST_PORT), help="Port to listen on.")
@click.option(
    "--reports-port",
    type=click.IntRange(1, _LAST_PORT),
    help="Port of this machine to serve reports on.  [default: the port after --port]",
)
def ui(host: str, port: int, reports_port: int | None) -> None:
    """Start the Dagster UI (and its daemon) with every contest and preference set as a partition.

    Reports are served beside it, read only, to this machine alone: a browser does not open files from a page. Where
    there is no contest yet, the sample contest is offered. Stop it with Ctrl-C.
    """
    from judge_pipeline.cli.run import sample_contest
    from judge_pipeline.orchestration.contest_folders import contest_folders, note_contest
    from judge_pipeline.orchestration.dagster_ui import run_dagster_ui
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.preference_sets import preference_folders

    if reports_port is None:
        reports_port = port + 1 if port < _LAST_PORT else port - 1
    if reports_port == port:
        raise click.BadParameter(
            f"{port} is the UI's own port (--port): reports are served on another", param_hint="--reports-port"
        )
    _refuse_taken(host, port)
    workspace = Workspace.find()
    workspace.judges()
    if not contest_folders(workspace):
        note_contest(workspace, sample_contest())
    with open_instance(workspace):
        pass
    click.echo(f"Contests: {', '.join(contest_folders(workspace))}")
    if sets := preference_folders(workspace):
        click.echo(f"Preference sets: {', '.join(sets)}")
    _serve_reports(workspace, port, reports_port)
    for warning in _warnings(host, workspace):
        click.echo(f"Warning: {warning}", err=True)
    click.echo(f"UI: http://{host}:{port}  (Ctrl-C stops it)")
    run_dagster_ui(workspace, host, port)


def _refuse_taken(host: str, port: int) -> None:
    """End here where nothing can listen: Dagster would go on without its page, and somebody else's would be opened.

    Raises:
        click.ClickException: another program listens there, or this user may not.
    """
    found: list[tuple[int, str]] = []
    with suppress(socket.gaierror):  # Dagster says what is wrong with a name
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        found = [(family, str(address[0])) for family, _, _, _, address in addresses]
    for family, address in found:
        try:
            with socket.create_server((address, port), family=family):
                pass
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                raise click.ClickException(
                    f"the UI cannot listen on port {port} of {host} ({os.strerror(error.errno)}): stop what listens "
                    "there (another workspace's UI?), or choose another port: "
                    f"judge-pipeline ui --port {_another(port)}"
                ) from None


def _another(port: int) -> int:
    """A port of which the next one, for reports, is another's neither."""
    return port + 10 if 1024 <= port < _LAST_PORT - 10 else 3010


def _warnings(host: str, workspace: Workspace) -> list[str]:
    """What may let others in."""
    from judge_pipeline.orchestration.own_addresses import is_loopback
    from judge_pipeline.settings.file_permissions import is_open_to_everybody

    found = []
    if not is_loopback(host):
        found.append(
            f"the UI asks nobody for a password, and {host} is reached from other machines: whoever can open it can "
            "read everything, start runs and spend money. Listen on 127.0.0.1 and put a proxy with authentication in "
            "front of it: docs/how-to/run-safely.md"
        )
    if is_open_to_everybody(workspace.out_dir):
        found.append(
            f"everybody on this machine can read {workspace.out_dir}, which holds what participants wrote; "
            f"'chmod -R o-rwx {workspace.out_dir}' closes it"
        )
    return found


def _serve_reports(workspace: Workspace, port: int, reports_port: int) -> None:
    """Serve the reports, and let the links that runs write lead there, unless the settings name another address."""
    from judge_pipeline.orchestration.links import REPORTS_URL, UI_URL, note_addresses
    from judge_pipeline.orchestration.own_addresses import LOOPBACK
    from judge_pipeline.orchestration.report_server import report_server, serve_in_background

    links = workspace.automation().links
    named = os.environ.get(REPORTS_URL) or links.reports_url
    if links.ui_url is None:
        os.environ.setdefault(UI_URL, f"http://{LOOPBACK}:{port}")
    note_addresses(workspace, ui_url=links.ui_url or os.environ[UI_URL])
    try:
        server = report_server(workspace.store_dir / "reports", reports_port, named)
    except OSError as error:
        click.echo(
            f"Reports are not served: port {reports_port} of {LOOPBACK} cannot be had ({error.strerror}); choose "
            "another with --reports-port",
            err=True,
        )
        return
    serve_in_background(server)
    here = f"http://{LOOPBACK}:{reports_port}"
    if named is None:
        os.environ[REPORTS_URL] = here
    note_addresses(workspace, reports_url=named or here)
    click.echo(f"Reports: {here}" + (f", reached as {named}" if named else ""))
