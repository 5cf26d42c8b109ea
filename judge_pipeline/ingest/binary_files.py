"""What is no text: refused by its first bytes, with what to do instead."""

from __future__ import annotations

from judge_pipeline.ingest.records import UnreadableArtifact

_MAGICS = (
    (b"PK\x03\x04", "a ZIP archive", "unpack it into the folder"),
    (b"\x1f\x8b", "a gzip archive", "unpack it into the folder"),
    (b"Rar!", "a RAR archive", "unpack it into the folder"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it into the folder"),
    (b"%PDF", "a PDF file", "save the page as HTML or text instead"),
    (b"\x89PNG", "an image", "save the page as HTML or text instead"),
    (b"\xff\xd8\xff", "an image", "save the page as HTML or text instead"),
    (b"GIF8", "an image", "save the page as HTML or text instead"),
    (b"PAR1", "a Parquet file", "put it into the folder by itself"),
)

_NOT_IN_TEXT = bytes((*range(9), *range(14, 27), *range(28, 32)))
"""Control characters that no text holds; ESC is used by ISO-2022-JP."""


def refuse_binary(data: bytes, path: str, place: str | None = None) -> None:
    """Lets text pass, in any encoding.

    Raises:
        UnreadableArtifact: the bytes are blank, an archive, an image, or otherwise no text.
    """
    if not data.strip():
        raise UnreadableArtifact(path, place, "is empty", "save it again")
    for magic, what, remedy in _MAGICS:
        if data.startswith(magic):
            raise UnreadableArtifact(path, place, f"is {what}", remedy)
    sample = data[:8192]
    odd = len(sample) - len(sample.translate(None, _NOT_IN_TEXT))
    wide = sample[:2] in (b"\xff\xfe", b"\xfe\xff") or sample.count(0) > len(sample) // 5
    if odd > len(sample) // 10 and not wide:
        raise UnreadableArtifact(path, place, "is a binary file, not text", "save the page as HTML or text instead")
