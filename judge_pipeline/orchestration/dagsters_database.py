"""Dagster's PostgreSQL is away for a while: a run waits for it, and the server of the graph looks after runs again.

Dagster tries for about 12 s to connect. A step that ended meanwhile would then fail although its work is done, and a
run whose step failed is not started again by itself. A look after runs that fails would be the last one: of a run whose
process ended, the server would never learn, and would itself never end. Dagster has no setting for either, so two of
its functions are replaced; tests hold its version to it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import dagster as dg

_LOGGER = logging.getLogger(__name__)

T = TypeVar("T")


def waiting_runs(value: object) -> dg.ResourceDefinition:
    """A resource that is this value; a process that makes it for a run waits for its databases from then on.

    Others do not: one that serves pages or looks for work had better say at once that it cannot.
    """

    def make(context: dg.InitResourceContext) -> object:
        if context.run is not None:
            _wait_in_this_process()
        return value

    return dg.ResourceDefinition(make)


def _wait_in_this_process() -> None:
    from judge_pipeline.judging.checkpoint.outage import wait_at_openings

    wait_at_openings()
    utils: Any = sys.modules.get("dagster_postgres.utils")
    if utils is not None and not isinstance(utils.retry_pg_connection_fn, Waiting):
        utils.retry_pg_connection_fn = Waiting(utils.retry_pg_connection_fn)


class Waiting:
    """Connects as Dagster does, again and again, as long as the checkpoint's server is waited for."""

    def __init__(self, connected: Callable[..., Any]) -> None:
        from judge_pipeline.judging.checkpoint.outage import Outage

        self._connected = connected
        self._outage = Outage("Dagster's records")

    def __call__(self, connect: Callable[[], T], *options: Any, **further: Any) -> T:
        """What ``connect`` gives, once it does.

        Raises:
            DagsterPostgresException: the server refuses this user, or was gone for too long.
        """
        from dagster_postgres.utils import DagsterPostgresException

        from judge_pipeline.judging.checkpoint.opening import is_refusal

        while True:
            try:
                connection: T = self._connected(connect, *options, **further)
            except DagsterPostgresException as error:
                if is_refusal(str(error.__cause__)) or not self._outage.goes_on():
                    raise
            else:
                self._outage.is_over()
                return connection


def keep_looking_after_runs() -> None:
    """Where this process is Dagster's server of the graph, it goes on looking after runs when a look failed."""
    module: Any = sys.modules.get("dagster._grpc.server")
    if module is not None and not isinstance(module.DagsterApiServer._check_for_orphaned_runs, _Lasting):
        module.DagsterApiServer._check_for_orphaned_runs = _Lasting(module.DagsterApiServer._check_for_orphaned_runs)


class _Lasting:
    """A method whose failure is told once, until it goes well again, and not raised."""

    def __init__(self, look: Callable[[Any], None]) -> None:
        self._look = look
        self._has_failed = False

    def __get__(self, server: Any, _: type) -> Any:
        return self if server is None else lambda: self._try(server)

    def _try(self, server: Any) -> None:
        try:
            self._look(server)
        except Exception as error:  # noqa: BLE001  whatever it was: the next look may find what this one did not
            if not self._has_failed:
                _LOGGER.warning("the server of the graph cannot look after its runs now, and tries again: %s", error)
            self._has_failed = True
        else:
            self._has_failed = False
