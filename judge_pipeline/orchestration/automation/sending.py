"""Sending a message to a webhook or by e-mail. No address and no password is in an error, a log or a record."""

from __future__ import annotations

import json
import smtplib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from http.client import HTTPException, InvalidURL
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import Request

from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.orchestration.automation.exchange import (
    SOCKET_SECONDS,
    Exchange,
    http_opener,
    mail_connection,
    within,
)
from judge_pipeline.orchestration.automation.failure_messages import Message, one_line
from judge_pipeline.settings.automation import NotifySettings
from judge_pipeline.settings.yaml_file import SettingsError

SECONDS = 12.0
"""How long sending one message may take in all: a sensor's look must be over within a minute."""

_REFUSALS = (400, 413, 422)
"""Answers to this very message; every other one would be the same for the next."""


class NotSentError(Exception):
    """A message could not be sent; the text says why, without the address.

    Attributes:
        refused: whether the other side will not take this very message, so that others may still be sent.
    """

    def __init__(self, text: str, *, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to people.

    Attributes:
        name: ``webhook`` or ``e-mail``.
        send: sends a message; raises ``NotSentError``.
    """

    name: str
    send: Callable[[Message], None]


def channels(settings: NotifySettings, environment: Mapping[str, str]) -> list[Channel]:
    """The ways that are set up; none where neither variable is set.

    Args:
        settings: section ``notify`` of automation.yaml.
        environment: where the addresses are read.

    Raises:
        SettingsError: an address is none, or e-mail has nobody to go to. The message names the variable, not the value.
    """
    found = []
    url = environment.get(settings.webhook_env)
    if url:
        parts = _parts(url, ("http", "https"), settings.webhook_env, "the URL of a webhook, http://... or https://...")
        scrubber = _scrubber(environment, url, parts.path, parts.query)
        found.append(Channel("webhook", lambda message: _post(url, message, scrubber)))
    server = environment.get(settings.smtp_env)
    if server:
        form = "smtp://USER:PASSWORD@HOST:587 or smtps://..."
        parts = _parts(server, ("smtp", "smtps"), settings.smtp_env, form)
        if not settings.email_to:
            raise SettingsError(
                f"{settings.smtp_env} is set, and automation.yaml names nobody under notify.email_to; add an address"
            )
        of_mail = _scrubber(environment, server, unquote(parts.password or ""))
        found.append(Channel("e-mail", lambda message: _mail(server, settings, message, of_mail)))
    return found


def _scrubber(environment: Mapping[str, str], *secrets: str) -> Scrubber:
    return Scrubber({**environment, **{f"SECRET_{i}": secret for i, secret in enumerate(secrets)}})


def _parts(url: str, schemes: tuple[str, str], variable: str, form: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in schemes or not parts.hostname:
        raise SettingsError(f"environment variable {variable} is not {form} (its value is not shown)")
    return parts


def _post(url: str, message: Message, scrubber: Scrubber) -> None:
    body = json.dumps(message.as_json(), ensure_ascii=False).encode("utf-8", "replace")
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "judge_pipeline"}
    request = Request(url, body, headers, method="POST")  # noqa: S310 (its scheme was looked at)

    def talk(exchange: Exchange) -> None:
        http_opener(exchange).open(request, timeout=SOCKET_SECONDS).close()

    try:
        within(SECONDS, talk)
    except HTTPError as error:
        error.close()
        text = f"the webhook answered {error.code} {_words(error.reason, scrubber)}"
        raise NotSentError(text, refused=error.code in _REFUSALS) from None
    except InvalidURL:  # its words quote the address as Python writes it, which is not how it is known
        raise NotSentError("the webhook's address holds a blank or a sign that no address has") from None
    except (URLError, OSError, HTTPException, ValueError) as error:
        why = error.reason if isinstance(error, URLError) else error
        raise NotSentError(f"the webhook cannot be reached: {_words(why, scrubber)}") from None


def _mail(url: str, settings: NotifySettings, message: Message, scrubber: Scrubber) -> None:
    parts = urlsplit(url)
    mail = EmailMessage()
    mail["Subject"] = one_line(message.subject, 150)
    mail["From"] = settings.email_from or settings.email_to[0]
    mail["To"] = ", ".join(settings.email_to)
    mail.set_content(message.text)
    try:
        within(SECONDS, lambda exchange: _hand_over(exchange, parts, mail))
    except smtplib.SMTPResponseException as error:
        said = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
        refused = isinstance(error, smtplib.SMTPDataError) and error.smtp_code >= 500
        text = f"the mail server answered {error.smtp_code} {_words(said, scrubber)}"
        raise NotSentError(text, refused=refused) from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise NotSentError(f"the mail server cannot be used: {_words(error, scrubber)}") from None


def _hand_over(exchange: Exchange, parts: SplitResult, mail: EmailMessage) -> None:
    secure, is_tls = ssl.create_default_context(), parts.scheme == "smtps"
    port = parts.port or (465 if is_tls else 587)
    with mail_connection(exchange, parts.hostname or "", port, secure if is_tls else None) as server:
        if not is_tls:
            server.ehlo()
            if server.has_extn("starttls"):
                server.starttls(context=secure)
                server.ehlo()
            elif parts.username:
                raise NotSentError("the mail server offers no STARTTLS; no password is sent to it in the clear")
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(mail)


def _words(error: object, scrubber: Scrubber) -> str:
    return one_line(scrubber.error(str(error)), 200)
