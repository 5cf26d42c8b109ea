"""Pages that a browser saved as one file of many parts (MHTML): the page itself, decoded out of its MIME wrapping."""

from __future__ import annotations

import email
import email.policy
import re

_HEAD = re.compile(rb"^(?:[\w-]+:[^\n]*\n(?:[ \t][^\n]*\n)*){1,40}", re.MULTILINE)


def page_in_archive(data: bytes) -> bytes | None:
    """The first HTML part of an MHTML file; None where the bytes are no such file.

    Read as it stands, its quoted-printable wrapping would pass for the source: ``a =3D b``.
    """
    head = data[:4096].replace(b"\r\n", b"\n").lower()
    if not _HEAD.match(head) or b"mime-version:" not in head or b"multipart/" not in head:
        return None
    try:
        message = email.message_from_bytes(data, policy=email.policy.compat32)
        part = next((part for part in message.walk() if part.get_content_type() == "text/html"), None)
        payload = part.get_payload(decode=True) if part is not None else None
    except RecursionError:  # parts within parts without end
        return None
    return payload if isinstance(payload, bytes) else None
