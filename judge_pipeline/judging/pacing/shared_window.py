"""The calls that a process may have under way at a provider: one window for all its judges and partitions.

The process holds a share of the provider's window and starts calls within it without asking the store. A thread of its
own renews the share every second, says at once what a rate limit taught, and looks ten times a second whether another
process was told to wait. A process that dies renews nothing, and its share is the others' again. Where the store's
server is gone, no further call starts once the share has run out, until the server is back.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from judge_pipeline.judging.checkpoint.opening import StoreAwayError
from judge_pipeline.judging.checkpoint.outage import SECONDS_BETWEEN_TRIES, outage_of
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.pacing.window import News
from judge_pipeline.judging.pacing.window_store import LEASE_SECONDS, WindowStore

SECONDS_BETWEEN_RENEWALS = 1.0
SECONDS_BETWEEN_LOOKS = 0.1
_SECONDS_BEFORE_MORE = 0.2
"""Between renewals where this process wants more calls than it has, or holds more than it is to have."""
_SECONDS_BETWEEN_GLANCES = 0.005


@dataclass(slots=True, eq=False)
class _Waiter:
    loop: asyncio.AbstractEventLoop
    started: asyncio.Future[None]
    may_start: bool = False


class SharedWindow:
    """This process's share of one provider's window. Threads, each with an event loop of its own, share it.

    ``acquire`` and ``release`` surround each call; :func:`window_of` makes it and ends it.
    """

    def __init__(self, url: str, provider: str) -> None:
        self._url = url
        self._provider = provider
        self._process = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._maxima: list[int] = []
        self._waiting: deque[_Waiter] = deque()
        self._under_way = 0
        self._most_wanted = 0
        self._allowed = 0
        self._allowed_until = float("-inf")
        self._closed_until = float("-inf")
        self._narrowed_at = float("-inf")
        self._limited_at: float | None = None
        self._replies = 0
        self._error: JudgingError | None = None
        self._news = threading.Event()
        self._ready = threading.Event()
        self._left = False
        self._keeper = threading.Thread(target=self._keep, name=f"window of {provider}", daemon=True)

    def enter(self, maximum: int) -> None:
        """A judge that may have so many calls under way begins; to be called under the registry's lock."""
        with self._lock:
            self._maxima.append(maximum)
        if not self._keeper.is_alive() and not self._ready.is_set():
            self._keeper.start()
        self._news.set()

    def exit(self, maximum: int) -> bool:
        """The judge has ended; True where it was the last one, so that the share falls back."""
        with self._lock:
            self._maxima.remove(maximum)
            self._left = not self._maxima
        self._news.set()
        return self._left

    async def wait_for_share(self) -> None:
        """Return when there is a share.

        Raises:
            JudgingError: the store cannot be used.
        """
        while not self._ready.is_set():
            await asyncio.sleep(_SECONDS_BETWEEN_GLANCES)
        if self._error is not None:
            raise self._error

    async def wait_until_given_back(self) -> None:
        """After the last judge has ended: until the store knows, or for as long as an unused share lasts anyhow."""
        until = time.monotonic() + LEASE_SECONDS
        while self._keeper.is_alive() and time.monotonic() < until:
            await asyncio.sleep(_SECONDS_BETWEEN_GLANCES)

    async def acquire(self) -> None:
        """Wait until a further call may start; those who came first go first.

        Raises:
            JudgingError: the store can no longer be used, so that nobody knows how many calls may start.
        """
        with self._lock:
            if self._error is not None:
                raise self._error
            if not self._waiting and self._has_room(time.monotonic()):
                self._under_way += 1
                return
            loop = asyncio.get_running_loop()
            waiter = _Waiter(loop, loop.create_future())
            self._waiting.append(waiter)
        try:
            await waiter.started
        except BaseException:  # cancelled meanwhile, or there is no share any more
            with self._lock:
                if waiter.may_start:
                    self._under_way -= 1
                elif waiter in self._waiting:
                    self._waiting.remove(waiter)
                woken = self._next_ones()
            _start(woken)
            raise

    def release(self) -> None:
        """A call has ended, in whatever way."""
        with self._lock:
            self._most_wanted = max(self._most_wanted, self._under_way + len(self._waiting))
            self._under_way -= 1
            woken = self._next_ones() if self._waiting else ()
        _start(woken)

    def succeeded(self) -> None:
        """The provider replied."""
        with self._lock:
            self._replies += 1

    def rate_limited(self, started: float, retry_after_seconds: float | None) -> None:
        """The provider said of a call that started then (monotonic clock) that it is asked too often.

        Calls that were under way when the window was last halved say nothing new, and do not halve it again.
        """
        now = time.monotonic()
        with self._lock:
            if started > self._narrowed_at:
                self._allowed = max(min(self._allowed, 1), self._allowed // 2)
                self._narrowed_at = now
                self._limited_at = started
                self._replies = 0
            if retry_after_seconds is not None:
                self._closed_until = max(self._closed_until, now + retry_after_seconds)
        self._news.set()

    def _has_room(self, now: float) -> bool:
        return self._under_way < self._allowed and self._closed_until <= now < self._allowed_until

    def _next_ones(self) -> list[_Waiter]:
        """Those whose turn has come; to be called under the lock."""
        woken = []
        now = time.monotonic()
        while self._waiting and self._has_room(now):
            waiter = self._waiting.popleft()
            waiter.may_start = True
            self._under_way += 1
            woken.append(waiter)
        return woken

    def _keep(self) -> None:
        """The thread: renew, look, let calls start when the provider opens again; give back in the end."""
        store: WindowStore | None = None
        renew_at = float("-inf")
        try:
            store = self._open()
            while not self._left:
                told = self._news.is_set()
                self._news.clear()
                if told or time.monotonic() >= renew_at:
                    renew_at = time.monotonic() + self._renew(store)
                else:
                    self._look(store)
                self._let_start()
                self._ready.set()
                self._news.wait(self._seconds_to_next(renew_at))
            store.give_back(self._provider, self._process, self._what_is_new(store, leaving=True))
        except Exception as error:  # noqa: BLE001  handed to those who wait for a share
            self._fail(error)
        finally:
            self._ready.set()
            if store is not None:
                store.close()

    def _open(self) -> WindowStore:
        """The store, which this process has used before: where its server is gone, once that is back."""
        while True:
            try:
                return WindowStore(self._url)
            except StoreAwayError:
                if self._left or not outage_of(self._url).goes_on():
                    raise
                time.sleep(SECONDS_BETWEEN_TRIES)

    def _renew(self, store: WindowStore) -> float:
        """Renew the share; how many seconds until that is due again."""
        asked_at = time.monotonic()
        news = self._what_is_new(store)
        try:
            allowed, closed_until = store.renew(self._provider, self._process, news)
        except JudgingError as error:
            is_gone = isinstance(error, StoreAwayError) and outage_of(self._url).goes_on()
            if asked_at >= self._allowed_until and not is_gone:
                raise
            self._tell_again(news)  # the share lasts a while yet, or none starts; and the store may come back
            return SECONDS_BETWEEN_TRIES if is_gone else _SECONDS_BEFORE_MORE
        outage_of(self._url).is_over()
        with self._lock:
            self._allowed = allowed
            self._allowed_until = asked_at + LEASE_SECONDS
            self._closed_until = max(self._closed_until, time.monotonic() + closed_until - store.now())
            wants_more = allowed < news.wanted and allowed < news.maximum
        return _SECONDS_BEFORE_MORE if wants_more or allowed < news.holds else SECONDS_BETWEEN_RENEWALS

    def _what_is_new(self, store: WindowStore, leaving: bool = False) -> News:
        now, wall = time.monotonic(), store.now()
        with self._lock:
            maximum = max(self._maxima, default=1)
            wanted = max(self._most_wanted, self._under_way + len(self._waiting))
            if self._allowed_until == float("-inf"):
                wanted = maximum  # the first time: as much as there may be, since nothing is known yet
            news = News(
                holds=max(self._under_way, self._allowed if now < self._allowed_until else 0),
                wanted=0 if leaving else min(wanted, maximum),
                maximum=maximum,
                replies=self._replies,
                limited=None if self._limited_at is None else wall + self._limited_at - now,
                closed_until=wall + self._closed_until - now if self._closed_until > now else 0.0,
            )
            self._most_wanted, self._replies, self._limited_at = 0, 0, None
        return news

    def _tell_again(self, news: News) -> None:
        with self._lock:
            self._replies += news.replies
            if news.limited is not None and self._limited_at is None:
                self._limited_at = self._narrowed_at

    def _look(self, store: WindowStore) -> None:
        try:
            closed_until = store.closed_until(self._provider)
        except JudgingError:
            return  # the next renewal says so where it lasts
        with self._lock:
            self._closed_until = max(self._closed_until, time.monotonic() + closed_until - store.now())

    def _seconds_to_next(self, renew_at: float) -> float:
        now = time.monotonic()
        opens = self._closed_until - now
        soon = min(renew_at - now, SECONDS_BETWEEN_LOOKS, opens if opens > 0.0 else SECONDS_BETWEEN_LOOKS)
        return max(0.0, soon)

    def _let_start(self) -> None:
        with self._lock:
            woken = self._next_ones()
        _start(woken)

    def _fail(self, error: Exception) -> None:
        words = f"the checkpoint cannot be used to share the calls of {self._provider} among processes: {error}"
        with self._lock:
            self._error = error if isinstance(error, JudgingError) else JudgingError(words)
            waiting, self._waiting = list(self._waiting), deque()
        for waiter in waiting:
            _tell(waiter, self._error)


def _start(waiters: Iterable[_Waiter]) -> None:
    for waiter in waiters:
        _tell(waiter, None)


def _tell(waiter: _Waiter, error: JudgingError | None) -> None:
    """Let the waiter go on, or raise, in its own loop."""

    def settle() -> None:
        if not waiter.started.done():
            if error is None:
                waiter.started.set_result(None)
            else:
                waiter.started.set_exception(error)

    if asyncio._get_running_loop() is waiter.loop:
        settle()
    else:
        with suppress(RuntimeError):  # its loop has closed, and nobody waits any more
            waiter.loop.call_soon_threadsafe(settle)


_OPEN: dict[tuple[str, str], SharedWindow] = {}
_REGISTRY = threading.Lock()


@asynccontextmanager
async def window_of(url: str, provider: str, maximum: int) -> AsyncIterator[SharedWindow]:
    """The process's window at the provider; the first judge that asks opens it, the last one gives its share back.

    Args:
        url: the checkpoint's; windows of different stores have nothing to do with each other.
        provider: its name.
        maximum: calls that the judge may have under way at once.

    Raises:
        JudgingError: the store cannot be used.
    """
    with _REGISTRY:
        window = _OPEN.get((url, provider)) or _OPEN.setdefault((url, provider), SharedWindow(url, provider))
        window.enter(maximum)
    try:
        await window.wait_for_share()
        yield window
    finally:
        with _REGISTRY:
            last = window.exit(maximum)
            if last:
                del _OPEN[url, provider]
        if last:
            await window.wait_until_given_back()
