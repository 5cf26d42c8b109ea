"""Images by their first bytes: kind and size; what is no image, too large or a bomb is refused."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.image_files import (
    MAX_IMAGE_BYTES,
    UnusableImage,
    bytes_of_data_url,
    data_url,
    image_facts,
    media_type_of,
)
from judge_pipeline.ingest.record_files import plain
from judge_pipeline_tests.judging.made_images import gif, jpeg, png, webp

IMAGES = {
    "png": (png(width=7, height=9), "image/png", 7, 9),
    "jpeg": (jpeg(640, 480), "image/jpeg", 640, 480),
    "gif": (gif(20, 10), "image/gif", 20, 10),
    "webp extended": (webp("VP8X", 300, 200), "image/webp", 300, 200),
    "webp lossless": (webp("VP8L", 300, 200), "image/webp", 300, 200),
    "webp lossy": (webp("VP8 ", 300, 200), "image/webp", 300, 200),
}


@pytest.mark.parametrize("name", IMAGES)
def test_kind_and_size_come_from_the_bytes(name: str) -> None:
    data, media_type, width, height = IMAGES[name]
    facts = image_facts(data)
    assert (facts.media_type, facts.width, facts.height) == (media_type, width, height)
    assert facts.sha256 == hashlib.sha256(data).hexdigest() and facts.n_bytes == len(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no PNG, JPEG, WebP or GIF"),
        (b"%PDF-1.7", "no PNG"),
        (png()[:20], "no whole PNG"),
        (jpeg()[:10], "no whole JPEG"),
        (png(width=0), "states no size"),
        (png(width=1)[:16] + (100_000).to_bytes(4, "big") * 2 + png()[24:], "declares 100000 x 100000 pixels"),
        (webp("VP8X", 2**24, 2**24), "declares"),
        (png() + bytes(MAX_IMAGE_BYTES), "the most is"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(UnusableImage, match=why):
        image_facts(data)


@given(st.sampled_from(sorted(IMAGES)), st.binary(max_size=60), st.integers(0, 40))
def test_damaged_heads_give_a_size_or_a_reason(name: str, junk: bytes, at: int) -> None:
    data = IMAGES[name][0]
    try:
        facts = image_facts(data[:at] + junk + data[at:])
    except UnusableImage:
        return
    assert facts.width > 0 and facts.height > 0 and media_type_of(data[:at] + junk + data[at:]) == facts.media_type


@given(st.binary(max_size=300))
def test_data_urls_give_their_bytes_again(data: bytes) -> None:
    assert bytes_of_data_url(data_url(data, "image/png")) == data
    broken = "\n".join(base64.b64encode(data).decode()[i : i + 20] for i in range(0, 500, 20))
    assert bytes_of_data_url(f"DATA:image/x;charset=a;base64,{broken}") == data


@pytest.mark.parametrize("text", ["data:image/png,rawbytes", "data:image/png;base64,####", "data:;base64,A"])
def test_other_data_urls_are_refused(text: str) -> None:
    with pytest.raises(UnusableImage):
        bytes_of_data_url(text)
    assert bytes_of_data_url("shots/data.png") is None
    with pytest.raises(UnusableImage, match="more than"):
        bytes_of_data_url("data:image/png;base64," + "A" * (2 * MAX_IMAGE_BYTES))


def test_bytes_of_an_image_in_a_record_become_a_data_url_and_others_text() -> None:
    struct = plain({"bytes": png(3), "path": "a.png"})
    assert bytes_of_data_url(struct["bytes"]) == png(3)
    assert plain(b"print(1)") == "print(1)"
