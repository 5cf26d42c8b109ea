"""Images as they are brought: what kind, how large, by their first bytes alone. Nothing is decoded here.

An image is a stranger's bytes: its name, its extension and what a data URL says of it are not believed. Only PNG, JPEG,
WebP and GIF are taken, which models take; a file that declares more pixels than any screenshot has is refused before
anything unpacks it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}
"""Media types that are taken -> the extension under which such an image is kept."""

MAX_IMAGE_BYTES = 5_000_000
"""The least that a large provider takes an image."""

MAX_PIXELS = 50_000_000
"""Width x height: a page of 1,600 x 30,000 fits."""

_DATA_URL = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
_MOST_BASE64 = MAX_IMAGE_BYTES * 4 // 3 + 10_000  # a little more than fits, for line breaks
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG's markers that state a size."""
_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})
"""JPEG's markers without a length."""


class UnusableImage(ValueError):  # noqa: N818 - the name says what it is about, not that it is an error
    """An image that cannot be used; the message says why, as the end of a sentence about it."""


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What is known of an image without unpacking it.

    Attributes:
        sha256: of its bytes, in hexadecimal.
        media_type: one of ``EXTENSIONS``.
        n_bytes: its size.
        width: in pixels, as it declares.
        height: in pixels, as it declares.
    """

    sha256: str
    media_type: str
    n_bytes: int
    width: int
    height: int


def media_type_of(data: bytes) -> str | None:
    """The media type by the first bytes; None where it is none of ``EXTENSIONS``."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/gif" if data[:6] in (b"GIF87a", b"GIF89a") else None


def image_facts(data: bytes) -> ImageFacts:
    """What the image is.

    Raises:
        UnusableImage: it is no image of a kind that is taken, is cut off before it states its size, or is too large.
    """
    media_type = media_type_of(data)
    if media_type is None:
        raise UnusableImage(f"is no PNG, JPEG, WebP or GIF: it begins {data[:8]!r}" if data else "is empty")
    if len(data) > MAX_IMAGE_BYTES:
        raise UnusableImage(f"has {len(data)} bytes; the most is {MAX_IMAGE_BYTES}")
    size = _SIZES[media_type](data)
    if size is None or 0 in size:
        raise UnusableImage(f"is no whole {media_type.partition('/')[2].upper()}: it states no size")
    width, height = size
    if width * height > MAX_PIXELS:
        raise UnusableImage(f"declares {width} x {height} pixels; the most is {MAX_PIXELS} in all")
    return ImageFacts(hashlib.sha256(data).hexdigest(), media_type, len(data), width, height)


def data_url(data: bytes, media_type: str) -> str:
    """The bytes as a data URL."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def bytes_of_data_url(text: str) -> bytes | None:
    """The bytes that a data URL holds; None where the text is none. What it says of its kind is not believed.

    Raises:
        UnusableImage: it is longer than an image may be, or not base64.
    """
    mark = _DATA_URL.match(text)
    if mark is None:
        if text[:5].lower() == "data:":
            raise UnusableImage("is a data URL without base64")
        return None
    if len(text) > _MOST_BASE64:
        raise UnusableImage(f"has more than {MAX_IMAGE_BYTES} bytes")
    try:
        return base64.b64decode("".join(text[mark.end() :].split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnusableImage(f"is a data URL that is not base64 ({error})") from None


def _png(data: bytes) -> tuple[int, int] | None:
    if len(data) < 33 or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _gif(data: bytes) -> tuple[int, int] | None:
    if len(data) < 13:
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 4 <= len(data):
        marker = data[at + 1]
        if data[at] != 0xFF or marker == 0xDA:  # out of step, or the picture begins without a size
            return None
        if marker == 0xFF:
            at += 1
        elif marker in _ALONE:
            at += 2
        elif marker in _FRAMES:
            size = data[at + 5 : at + 9]
            return (int.from_bytes(size[2:], "big"), int.from_bytes(size[:2], "big")) if len(size) == 4 else None
        else:
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None


_SIZES = {"image/png": _png, "image/jpeg": _jpeg, "image/webp": _webp, "image/gif": _gif}
