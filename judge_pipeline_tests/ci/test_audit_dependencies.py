"""The audit of dependencies: what fails, what is only said; and the real pip-audit at a service on loopback."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline_tests.loopback import serving

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "audit_dependencies.py"
TODAY = date(2026, 11, 30)


@pytest.fixture(scope="module")
def audit() -> Any:
    spec = importlib.util.spec_from_file_location("audit_dependencies", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def report(*vulns: dict[str, Any], name: str = "Some.Package") -> dict[str, Any]:
    return {"dependencies": [{"name": name, "version": "1.0", "vulns": list(vulns)}]}


VULN = {"id": "PYSEC-1", "aliases": ["CVE-2026-1", "GHSA-aa"], "fix_versions": ["1.1"]}


def entry(id: str = "GHSA-aa", package: str = "some-package", until: str = "2027-01-01") -> str:
    return f"allowed: [{{id: {id}, package: {package}, why: not used, until: {until}}}]"


def test_a_vulnerability_fails_and_says_where_it_is_mended(audit: Any) -> None:
    outcome = audit.judge(report(VULN), [], TODAY)
    assert outcome.failed
    assert "VULNERABLE Some.Package 1.0: CVE-2026-1, GHSA-aa, PYSEC-1; mended in: 1.1" in outcome.lines[0]


@pytest.mark.parametrize("id", ["PYSEC-1", "CVE-2026-1", "GHSA-aa"])
def test_one_that_is_allowed_under_any_of_its_names_does_not(audit: Any, id: str) -> None:
    outcome = audit.judge(report(VULN), audit.read_allowed(entry(id)), TODAY)
    assert not outcome.failed
    assert "not used" in outcome.lines[0]


def test_allowing_it_for_another_package_allows_nothing(audit: Any) -> None:
    assert audit.judge(report(VULN), audit.read_allowed(entry(package="another")), TODAY).failed


@pytest.mark.parametrize(("until", "fails"), [("2026-11-29", True), ("2026-11-30", False)])
def test_an_entry_runs_out_after_its_day(audit: Any, until: str, fails: bool) -> None:
    allowed = audit.read_allowed(entry(until=until))
    assert audit.judge(report(VULN), allowed, TODAY).failed is fails
    assert audit.nothing_audited(9, "no network", allowed, TODAY).failed is fails, "audited or not"


def test_an_entry_that_nothing_needs_is_named(audit: Any) -> None:
    outcome = audit.judge(report(), audit.read_allowed(entry()), TODAY)
    assert not outcome.failed
    assert outcome.lines[0] == "no longer found: GHSA-aa of some-package; remove it from audit_allowed.yaml"


@pytest.mark.parametrize(
    "text",
    [
        "allowed: [{id: X, package: p, why: w}]",
        "allowed: [{id: X, package: p, why: ' ', until: 2027-01-01}]",
        "allowed: [{id: X, package: p, why: w, until: soon}]",
        "allowed: [{id: X, package: p, why: w, until: 2027-01-01, also: y}]",
        "allowed: [{id: X, package: a_b, why: w, until: 2027-01-01}, {id: X, package: A-B, why: w, until: 2027-01-01}]",
    ],
)
def test_a_list_that_says_less_or_more_is_refused(audit: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"entry|twice"):
        audit.read_allowed(text)


def test_the_list_that_is_kept_is_in_order(audit: Any) -> None:
    audit.read_allowed((SCRIPT.parent / "audit_allowed.yaml").read_text(encoding="utf-8"))


class Service:
    """A service of vulnerabilities that knows some, or is down."""

    def __init__(self) -> None:
        self.url, self.asked, self.status = "", list[str](), 200
        self.known: dict[str, list[dict[str, Any]]] = {}


@pytest.fixture
def service() -> Iterator[Service]:
    state = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.asked.append(query["package"]["name"])
            body = json.dumps({"vulns": state.known.get(query["package"]["name"], [])}).encode()
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/"
    with serving(server):
        yield state


def run(tmp_path: Path, service: Service, allowed: str = "allowed: []") -> tuple[int, str]:
    """The script over four packages: exit code and what it said."""
    lock, listed = tmp_path / "lock.txt", tmp_path / "allowed.yaml"
    names = ("alpha", "beta", "gamma", "delta")
    lock.write_text("".join(f"{name}==1.0 \\\n    --hash=sha256:{'0' * 64}\n" for name in names))
    listed.write_text(allowed)
    own = ["--lock", str(lock), "--allowed", str(listed), "--", "--vulnerability-service", "osv"]
    further = ["--osv-url", service.url, "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, str(SCRIPT), *own, *further]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.slow
def test_the_real_pip_audit_finds_what_the_service_knows(tmp_path: Path, service: Service) -> None:
    affected = [{"package": {"name": "delta", "ecosystem": "PyPI"}, "ranges": [
        {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.2"}]}
    ]}]  # fmt: skip
    service.known["delta"] = [
        {"id": "GHSA-delta", "summary": "bad", "affected": affected, "published": "2026-01-01T00:00:00Z"}
    ]
    code, said = run(tmp_path, service)
    assert code == 1, said
    assert "VULNERABLE delta 1.0: GHSA-delta; mended in: 1.2" in said
    assert "4 of 4 packages were held against" in said
    code, said = run(tmp_path, service, entry("GHSA-delta", "delta", "2199-01-01"))
    assert code == 0, said


@pytest.mark.slow
def test_where_nothing_can_be_audited_it_says_so_and_goes_on(tmp_path: Path, service: Service) -> None:
    service.status = 503
    code, said = run(tmp_path, service)
    assert code == 0, said
    assert "COULD NOT BE AUDITED: 4 of 4 packages" in said
    assert "delta" not in service.asked, "a service that fails is not asked about every package"


def test_a_list_that_cannot_be_read_fails(tmp_path: Path, service: Service) -> None:
    code, said = run(tmp_path, service, "allowed: [{id: X}]")
    assert code == 1
    assert "allowed.yaml: entry 1 needs exactly id, package, why and until" in said
    assert service.asked == []
