"""Small images of every kind that is taken, made byte by byte."""

from __future__ import annotations

import struct
import zlib


def png(grey: int = 0, width: int = 2, height: int = 3) -> bytes:
    """A real PNG of one shade of grey."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes([grey]) * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg(width: int = 640, height: int = 480) -> bytes:
    """The head of a JPEG: an application segment, a fill byte, then the frame that states the size."""
    app = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
    frame = b"\xff\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8" + app + frame + b"\xff\xd9"


def gif(width: int = 20, height: int = 10) -> bytes:
    """The head of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def webp(kind: str, width: int = 300, height: int = 200) -> bytes:
    """The head of a WebP: ``VP8X`` (extended), ``VP8L`` (lossless) or ``VP8 `` (lossy)."""
    body = {
        "VP8X": bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
        "VP8L": b"\x2f" + ((width - 1) & 0x3FFF | ((height - 1) & 0x3FFF) << 14).to_bytes(4, "little") + bytes(5),
        "VP8 ": bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width & 0x3FFF, height & 0x3FFF),
    }[kind]
    chunk = kind.encode() + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk
