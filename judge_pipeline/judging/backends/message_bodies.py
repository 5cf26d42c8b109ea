"""Messages as OpenAI's dialect writes them: a text, or a text with images in it, each as a data URL after its label."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from judge_pipeline.judging.request import Image, Message, ReadImage


def message_bodies(messages: Iterable[Message], read_image: ReadImage) -> list[dict[str, Any]]:
    """The messages of a body. litellm's adapters translate it for providers of other dialects.

    Raises:
        CallFailedError: the bytes of an image are not there.
    """
    return [{"role": message.role, "content": _content(message, read_image)} for message in messages]


def _content(message: Message, read_image: ReadImage) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.content
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.content}]
    for image in message.images:
        parts += [{"type": "text", "text": image.label}, {"type": "image_url", "image_url": _url(image, read_image)}]
    return parts


def _url(image: Image, read_image: ReadImage) -> dict[str, str]:
    encoded = base64.b64encode(read_image(image)).decode("ascii")
    return {"url": f"data:{image.media_type};base64,{encoded}"}
