"""Bytes -> tables: submissions and prompt logs of a contest, read right or set aside with a reason."""
