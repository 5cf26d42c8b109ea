"""E-mail addresses and telephone numbers in texts that are full of code and numbers.

Contest code multiplies matrices (``a@b.T``), subtracts numbers (``100-200-3000``) and prints samples of ten digits. So
an address needs a domain that can be one and must not be a call, and a telephone number must be written as one: with a
country code, or in the grouping of a region's own plan, and valid there (package phonenumbers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_GENERIC_DOMAINS = (
    "academy|ai|app|art|asia|biz|blog|cat|cloud|com|company|design|dev|digital|edu|email|engineering|eu|example|games"
    "|gov|group|info|int|invalid|jobs|life|live|local|ltd|mail|media|mil|mobi|moe|museum|name|net|network|news|ninja"
    "|online|org|page|pro|school|site|software|solutions|space|store|studio|systems|team|tech|test|tokyo|today|tools"
    "|top|university|website|wiki|work|works|world|xyz|zone"
)
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+/@-])[A-Za-z0-9_][A-Za-z0-9._%+-]{0,63}[@\uff20]"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+"
    rf"(?i:[a-z]{{2}}|{_GENERIC_DOMAINS})(?![A-Za-z0-9_@(\[]|-[A-Za-z0-9]|\.[A-Za-z0-9_])"
)
_NO_PERSON = frozenset({"git", "hg", "svn"})
"""Users of repository addresses: ``git@host.org:group/name`` is nobody's."""

_SAID_TO_BE_ONE = re.compile(
    r"(?i:\b(?:tel|telephone|phone|mobile|cell|fax|whatsapp|call me at|call me on)\b|電話|携帯|連絡先|℡|☎)"
    r"[^\w+(\n]{0,4}(?i:(?:number|no|is)\b[^\w+(\n]{0,3}|番号|は|[:：]|\s){0,3}"
    r"(\+?[(（]?[0-9][0-9 ()（）.\-‐–ー]{7,20}[0-9])(?![0-9A-Za-z_.])"
)
_INTERNATIONAL = re.compile(
    r"(?<![0-9A-Za-z_)\]+])(?:\+|＋)[1-9][0-9]{0,2}(?:[ .\-‐–]?[(（]?[0-9]{1,5}[)）]?){2,6}"
    r"(?![0-9A-Za-z_(\[+*/%]|[.,][0-9])"
)
_NATIONAL = re.compile(
    r"(?<![0-9A-Za-z_.,+*/%<>=^)\]\[-])(?<![-+*/%<>=] )"
    r"(?:0[0-9]{1,4}[-‐–ー][0-9]{1,4}[-‐–ー][0-9]{3,4}"  # 03-1234-5678, 090-1234-5678
    r"|[(（]0[0-9]{1,4}[)）] ?[0-9]{1,4}[-‐–ー ][0-9]{3,4}"  # (03) 1234-5678
    r"|0[0-9]{1,4}[(（][0-9]{1,4}[)）][0-9]{3,4}"  # 03(1234)5678
    r"|[(（][2-9][0-9]{2}[)）] ?[2-9][0-9]{2}-[0-9]{4}"  # (415) 555-2671
    r"|[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}"  # 415-555-2671
    r"|0[5789]0[0-9]{8})"  # 09012345678
    r"(?![0-9A-Za-z_(\[+*/%=<>^-]|[.,][0-9]| ?[-+*/%<>=])"
)


def find_emails(text: str) -> Iterator[Span]:
    """Where e-mail addresses stand, as (start, end)."""
    if "@" not in text and "\uff20" not in text:
        return
    for match in _EMAIL.finditer(text):
        if re.split("[@\uff20]", match.group())[0].lower() not in _NO_PERSON:
            yield match.span()


def find_phones(text: str, regions: Sequence[str]) -> Iterator[Span]:
    """Where telephone numbers stand, as (start, end); spans may overlap.

    Args:
        text: the text.
        regions: whose national notations are looked for, as ISO 3166 codes: JP, US.
    """
    for match in _INTERNATIONAL.finditer(text):
        if _is_valid(match.group(), ()):
            yield match.span()
    for match in _NATIONAL.finditer(text):
        if _is_valid(match.group(), regions, grouped=True):
            yield match.span()
    for match in _SAID_TO_BE_ONE.finditer(text):
        if _is_valid(match.group(1), regions):
            yield match.span(1)


def _is_valid(written: str, regions: Sequence[str], grouped: bool = False) -> bool:
    from phonenumbers import Leniency, PhoneNumberMatcher

    leniency = Leniency.STRICT_GROUPING if grouped else Leniency.VALID
    plain = written.translate(_PLAIN)
    return any(
        any(True for _ in PhoneNumberMatcher(plain, region, leniency=leniency, max_tries=4))
        for region in regions or ("ZZ",)
    )


_PLAIN = str.maketrans({"＋": "+", "（": "(", "）": ")", "‐": "-", "–": "-", "ー": "-"})
