"""The cover pictures of the demonstration articles, drawn when they are needed."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

_SIZE = (1200, 630)
_SKIES = {"news": ((214, 231, 247), (120, 165, 207)), "products": ((232, 238, 242), (134, 152, 168))}
_DUSK = ((253, 238, 219), (226, 160, 110))


def draw(subject: str) -> bytes:
    """Return a PNG for an article of this category: a warehouse, a linear guide, or falling stock."""
    from PIL import Image, ImageDraw  # imported late, as it takes a tenth of a second

    light, dark = _SKIES.get(subject, _DUSK)
    shade = Image.linear_gradient("L").resize(_SIZE)
    picture = Image.composite(Image.new("RGB", _SIZE, dark), Image.new("RGB", _SIZE, light), shade)
    {"news": _warehouse, "products": _guide}.get(subject, _stock)(ImageDraw.Draw(picture))
    made = BytesIO()
    picture.save(made, "PNG")
    return made.getvalue()


def _warehouse(drawing: ImageDraw) -> None:
    drawing.rectangle((0, 520, 1200, 630), fill=(96, 110, 122))
    drawing.polygon(((180, 270), (600, 130), (1020, 270)), fill=(58, 84, 112))
    drawing.rectangle((200, 270, 1000, 520), fill=(236, 240, 243))
    for left in (250, 510, 770):
        drawing.rectangle((left, 350, left + 180, 520), fill=(72, 104, 138))
        for top in range(365, 520, 22):
            drawing.line((left, top, left + 180, top), fill=(112, 144, 176), width=3)


def _guide(drawing: ImageDraw) -> None:
    drawing.rounded_rectangle((80, 360, 1120, 440), 8, fill=(92, 104, 116))
    drawing.rectangle((80, 385, 1120, 397), fill=(168, 180, 190))
    for left in range(130, 1100, 120):
        drawing.ellipse((left, 403, left + 26, 429), fill=(52, 60, 68))
    for left in (300, 700):
        drawing.rounded_rectangle((left, 270, left + 210, 420), 12, fill=(38, 70, 110))
        for hole in (left + 30, left + 150):
            drawing.ellipse((hole, 295, hole + 30, 325), fill=(200, 210, 220))


def _stock(drawing: ImageDraw) -> None:
    for number, height in enumerate((380, 350, 300, 280, 225, 190)):
        left = 160 + number * 150
        drawing.rounded_rectangle((left, 530 - height, left + 96, 530), 6, fill=(150, 82, 44))
    drawing.line((140, 532, 1060, 532), fill=(92, 52, 30), width=6)
