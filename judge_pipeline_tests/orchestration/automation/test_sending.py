from __future__ import annotations

import email
import email.policy
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from judge_pipeline.orchestration.automation import sending
from judge_pipeline.orchestration.automation.failure_messages import FailedRun, Message, messages
from judge_pipeline.orchestration.automation.sending import NotSentError, channels
from judge_pipeline.settings.automation import NotifySettings
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline_tests.orchestration.automation.loopback_receivers import (
    MailServer,
    Webhook,
    dripping,
    mail_server,
    webhook,
)

PASSWORD = "p@ss/word of the mail server"


def message() -> Message:
    words = "Größe <!channel> & more"
    run = FailedRun(
        "r-1", "judge_contest", "contest mini", None, "3 authentication", words, "cmd", "http://ui.test/r-1"
    )
    return messages([run], 5)[0]


def send(settings: NotifySettings, **environment: str) -> None:
    (way,) = channels(settings, environment)
    way.send(message())


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as state:
        yield state


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and key of ``localhost``, good for a day."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine, to make a certificate with")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    options = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    command = ["openssl", "req", *options.split(), "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, "-keyout", str(file), "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


@pytest.fixture
def mails(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    """A mail server with a certificate that this machine trusts for the time of the test."""
    monkeypatch.setenv("SSL_CERT_FILE", f"{certificate}.crt")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with mail_server(context) as state:
        yield state


TO = NotifySettings(email_to=("team@example.org", "lead@example.org"))


def mail_url(server: MailServer, scheme: str = "smtp", host: str = "localhost") -> str:
    return f"{scheme}://watch:{quote(PASSWORD, safe='')}@{host}:{server.port}"


def test_nobody_is_told_where_no_variable_is_set() -> None:
    assert channels(TO, {}) == []
    assert channels(TO, {"JUDGE_PIPELINE_WEBHOOK_URL": "", "JUDGE_PIPELINE_SMTP_URL": ""}) == []


def test_a_webhook_gets_fields_and_a_text_that_a_chat_shows_as_it_is(hook: Webhook) -> None:
    send(NotifySettings(webhook_env="CHAT"), CHAT=hook.url)
    (body,) = hook.got
    assert body["event"] == "runs_failed"
    assert body["runs"][0]["words"] == "Größe <!channel> & more"
    assert "Größe &lt;!channel&gt; &amp; more" in body["text"], "it calls nobody"
    assert body["mrkdwn"] is False


@pytest.mark.parametrize(
    ("status", "refused"),
    [(400, True), (413, True), (422, True), (401, False), (404, False), (429, False), (503, False)],
)
def test_an_answer_other_than_200_is_told_without_the_address(hook: Webhook, status: int, refused: bool) -> None:
    hook.status = status
    with pytest.raises(NotSentError, match=f"the webhook answered {status}") as error:
        send(NotifySettings(), JUDGE_PIPELINE_WEBHOOK_URL=hook.url)
    assert error.value.refused is refused
    assert "secret-of-the-hook" not in str(error.value)


def test_a_webhook_is_followed_nowhere_else(hook: Webhook) -> None:
    with webhook() as other:
        hook.status, hook.location = 307, other.url
        with pytest.raises(NotSentError, match="answered 307"):
            send(NotifySettings(), JUDGE_PIPELINE_WEBHOOK_URL=hook.url)
        assert other.tries == 0


def test_a_webhook_that_is_down_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/secret-of-the-hook"
        with pytest.raises(NotSentError, match=r"cannot be reached: .*refused") as error:
            send(NotifySettings(), JUDGE_PIPELINE_WEBHOOK_URL=url)
    assert not error.value.refused
    assert "secret-of-the-hook" not in str(error.value)


@pytest.mark.parametrize("sign", [" ", "\t", "\n", "\r\nX: y", "\x7f"])
def test_an_address_with_a_sign_that_none_has_is_not_quoted(sign: str) -> None:
    with pytest.raises(NotSentError) as told:
        send(NotifySettings(), JUDGE_PIPELINE_WEBHOOK_URL=f"http://127.0.0.1:1/services/secret-one{sign}secret-two")
    assert "address" in str(told.value) and "secret" not in str(told.value)


def test_something_that_speaks_no_http_is_told() -> None:
    with mail_server(None) as server, pytest.raises(NotSentError, match="cannot be reached"):
        send(NotifySettings(), JUDGE_PIPELINE_WEBHOOK_URL=f"http://127.0.0.1:{server.port}/")


@pytest.mark.parametrize("value", ["hooks.test/hidden", "file:///hidden", "http:///hidden", "http://h:hidden/"])
def test_what_is_no_address_is_refused_by_the_variables_name(value: str) -> None:
    with pytest.raises(SettingsError, match="JUDGE_PIPELINE_WEBHOOK_URL") as error:
        channels(NotifySettings(), {"JUDGE_PIPELINE_WEBHOOK_URL": value})
    assert "hidden" not in str(error.value)


def test_an_e_mail_needs_somebody_to_go_to() -> None:
    with pytest.raises(SettingsError, match=r"notify\.email_to"):
        channels(NotifySettings(), {"JUDGE_PIPELINE_SMTP_URL": "smtp://mail.test"})


def test_an_e_mail_goes_to_all_over_an_encrypted_line(mails: MailServer) -> None:
    send(TO, JUDGE_PIPELINE_SMTP_URL=mail_url(mails))
    assert mails.logins == [("watch", PASSWORD, True)]
    ((recipients, raw),) = mails.mails
    mail = email.message_from_bytes(raw.encode(), policy=email.policy.default)
    assert recipients == ["team@example.org", "lead@example.org"]
    assert mail["From"] == "team@example.org"
    assert mail["Subject"] == "judge_pipeline: judge_contest (contest mini) failed"
    assert "Why: Größe <!channel> & more" in mail.get_content()


def test_no_password_is_sent_in_the_clear(mails: MailServer) -> None:
    mails.offers_starttls = False
    with pytest.raises(NotSentError, match="offers no STARTTLS"):
        send(TO, JUDGE_PIPELINE_SMTP_URL=mail_url(mails))
    assert (mails.logins, mails.mails) == ([], [])


def test_nothing_is_sent_to_a_server_whose_certificate_is_anothers(mails: MailServer) -> None:
    with pytest.raises(NotSentError, match="certificate verify failed"):
        send(TO, JUDGE_PIPELINE_SMTP_URL=mail_url(mails, host="127.0.0.1"))
    assert (mails.logins, mails.mails) == ([], [])


def test_a_server_on_this_machine_needs_neither_password_nor_encryption(mails: MailServer) -> None:
    mails.offers_starttls = False
    send(TO, JUDGE_PIPELINE_SMTP_URL=f"smtp://localhost:{mails.port}")
    assert len(mails.mails) == 1


def test_a_refused_password_is_told_and_not_shown(mails: MailServer) -> None:
    mails.password = "another"
    with pytest.raises(NotSentError, match="answered 535 wrong password") as error:
        send(TO, JUDGE_PIPELINE_SMTP_URL=mail_url(mails))
    assert PASSWORD not in str(error.value)
    assert not error.value.refused, "it is the same with every message"


@pytest.mark.parametrize(("answer", "refused"), [("552 too large", True), ("451 try again later", False)])
def test_a_message_that_is_not_taken(mails: MailServer, answer: str, refused: bool) -> None:
    mails.answers_data = answer
    with pytest.raises(NotSentError, match=answer) as error:
        send(TO, JUDGE_PIPELINE_SMTP_URL=mail_url(mails))
    assert error.value.refused is refused


def test_a_mail_server_that_is_down_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(NotSentError, match=r"cannot be used: .*refused"):
            send(TO, JUDGE_PIPELINE_SMTP_URL=f"smtp://127.0.0.1:{taken.getsockname()[1]}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "begins"),
    [
        ("http", b"HTTP/1.1 200 OK\r\nX-Wait: "),
        ("https", b"\x16\x03\x03\x40\x00\x02"),  # a record of a handshake, 16 KiB long
        ("smtp", b"220-"),
        ("smtps", b"\x16\x03\x03\x40\x00\x02"),
    ],
)
def test_what_drips_is_cut_at_one_deadline(scheme: str, begins: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte would begin a time-out of the socket anew: of a reply's headers, of a handshake, of a mail greeting."""
    variable = f"JUDGE_PIPELINE_{'WEBHOOK' if scheme.startswith('http') else 'SMTP'}_URL"
    seconds = 0.2
    with dripping() as server:
        server.begins = begins
        while not server.gone:  # a busy machine may need longer to come as far as a connection
            seconds *= 2
            monkeypatch.setattr(sending, "SECONDS", seconds)
            with pytest.raises(NotSentError, match=rf"it was not over within {seconds:g} seconds"):
                send(TO, **{variable: f"{scheme}://127.0.0.1:{server.port}/secret"})
        ended = [gone.wait(20) for gone in server.gone]
    assert all(ended), "the connection is cut, and nobody is left who reads from it"
