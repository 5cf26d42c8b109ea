"""What tests of judging share: the loopback provider, and a judge at it."""

from judge_pipeline_tests.judging.conftest import context, loopback_judge, make_requests, provider, transport

__all__ = ["context", "loopback_judge", "make_requests", "provider", "transport"]
