"""Types of files are detected from the content."""

import io
import os

import pytest

from plugins.files.images import is_sound_image, is_sound_svg
from plugins.files.types import BY_MEDIA, GIF, HEAD_BYTES, JPEG, PNG, TAIL_BYTES, TYPES, WEBP, detect, ends_as_zip
from tests.api.files.samples import DOCX, PDF, XLSX, archive, drawing, image

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)
FTYP = b"\0\0\0\x20ftyp%b\0\0\x02\0isomiso2avc1mp41" + bytes(64)
SAMPLES = {
    "image/png": ("a.png", image("PNG")),
    "image/jpeg": ("a.jpg", image("JPEG")),
    "image/gif": ("a.gif", image("GIF")),
    "image/webp": ("a.webp", image("WEBP")),
    "image/avif": ("a.avif", image("AVIF")),
    "image/bmp": ("a.bmp", image("BMP")),
    "image/tiff": ("a.tif", image("TIFF")),
    "image/x-icon": ("a.ico", image("ICO")),
    "image/svg+xml": ("a.svg", b"<?xml version='1.0'?><!-- by hand -->" + drawing()),
    "image/heic": ("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(64)),
    "application/pdf": ("a.pdf", PDF),
    "application/rtf": ("a.rtf", b"{\\rtf1\\ansi text}"),
    "application/zip": ("a.zip", archive("a.txt")),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("a.docx", DOCX),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("a.xlsx", XLSX),
    "application/vnd.oasis.opendocument.text": ("a.odt", archive("mimetype", "META-INF/manifest.xml")),
    "application/ofd": ("a.ofd", archive("OFD.xml", "Doc_0/Document.xml")),
    "application/msword": ("a.doc", OLE),
    "application/vnd.ms-excel": ("a.xls", OLE),
    "application/x-7z-compressed": ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(40)),
    "application/vnd.rar": ("a.rar", b"Rar!\x1a\x07\x01\0" + bytes(40)),
    "application/gzip": ("a.gz", b"\x1f\x8b\x08\0" + bytes(40)),
    "video/mp4": ("a.mp4", FTYP % b"isom"),
    "audio/mp4": ("a.m4a", FTYP % b"M4A "),
    "audio/mpeg": ("a.mp3", b"ID3\x03" + bytes(70)),
    "audio/wav": ("a.wav", b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0" + bytes(64)),
    "audio/amr": ("a.amr", b"#!AMR\n" + b"<" * 40),
    "text/plain": ("a.js", b"alert(1)"),
    "text/csv": ("a.csv", "名称,数量\n".encode("gbk")),
    "text/markdown": ("a.md", b"# title\n"),
    "application/json": ("a.json", b'{"a": 1}'),
    "application/xml": ("a.xml", b"<?xml version='1.0'?><a><html/></a>"),
    "text/html": ("a.png", b"\xef\xbb\xbf \n<!DOCTYPE html><title>x</title>"),
    "application/octet-stream": ("a.pdf", b"MZ\x90\0" + bytes(100)),
}
HTML = (
    b"<script>1</script>",
    b"<HTML>",
    b"<body onload=x>",
    b"<?php echo 1 ?>",
    b"<iframe src=x>",
    b"<!-- x --><html>",
    b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>",
    b"<a href=x>",
    b"<p>",
)


def found(name: str, content: bytes) -> str:
    return detect(content[:HEAD_BYTES], content[-TAIL_BYTES:], name).media


@pytest.mark.parametrize(
    ("media", "name", "content"), [(media, *sample) for media, sample in SAMPLES.items()], ids=SAMPLES
)
def test_a_type_is_detected_by_content(media: str, name: str, content: bytes) -> None:
    assert found(name, content) == media


@pytest.mark.parametrize("content", HTML)
def test_what_browsers_detect_as_html_is_html(content: bytes) -> None:
    assert found("a.txt", content) == "text/html"


@pytest.mark.parametrize("name", ["a.msi", "a.exe", "a"])
def test_a_compound_file_of_no_office_program_is_unknown(name: str) -> None:
    assert found(name, OLE) == "application/octet-stream"


def test_random_bytes_are_no_inline_type() -> None:
    shown = {type.media for type in TYPES if type.inline and type.major != "audio"}
    assert not shown & {found("a.png", os.urandom(2000)) for _ in range(200)}


# -- images

IMAGES = {
    "PNG": PNG,
    "GIF": GIF,
    "WEBP": WEBP,
    "JPEG": JPEG,
    "AVIF": BY_MEDIA["image/avif"],
    "BMP": BY_MEDIA["image/bmp"],
}


def sound(kind: str, content: bytes, pixels: int = 1_000_000) -> bool:
    return is_sound_image(io.BytesIO(content), IMAGES[kind], pixels)


@pytest.mark.parametrize("kind", IMAGES)
@pytest.mark.parametrize("size", [(1, 1), (300, 200)])
def test_a_whole_image_is_sound(kind: str, size: tuple[int, int]) -> None:
    assert sound(kind, image(kind, size))


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_a_moving_image_is_sound(kind: str) -> None:
    from PIL import Image

    frames = [Image.new("RGB", (50, 50), color) for color in ("red", "green", "blue")]
    buffer = io.BytesIO()
    frames[0].save(buffer, kind, save_all=True, append_images=frames[1:])
    assert sound(kind, buffer.getvalue())


def test_a_photo_with_a_thumbnail_behind_it_is_sound() -> None:
    assert sound("JPEG", image("JPEG", (100, 100)) + image("JPEG"))


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "JPEG", "AVIF"])
def test_half_an_image_is_not_sound(kind: str) -> None:
    content = image(kind, (300, 200))
    assert not sound(kind, content[: len(content) // 2])


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
def test_an_image_with_something_behind_it_is_not_sound(kind: str) -> None:
    assert not sound(kind, image(kind) + b"*/=1;alert(1)//;")


@pytest.mark.parametrize("kind", IMAGES)
@pytest.mark.parametrize(
    "more", [b"<script >alert(1)</script>", b"<?php system($_GET['c']); ?>", b"%PDF-1.7 ", b"<svg onload=x>"]
)
def test_an_image_that_is_a_page_or_a_document_too_is_not_sound(kind: str, more: bytes) -> None:
    assert not sound(kind, image(kind) + more)


@pytest.mark.parametrize("at", [(64 << 10) - 4, (64 << 10) - 1])
def test_markup_is_found_wherever_it_stands(at: int) -> None:
    content = image("BMP", (200, 200))
    assert not sound("BMP", content[:at] + b"<script>" + content[at:])


@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_of_too_many_pixels_is_not_sound(kind: str) -> None:
    assert not sound(kind, image(kind, (300, 200)), pixels=59_999)


def test_an_image_that_declares_too_many_pixels_is_not_sound() -> None:
    content = bytearray(image("PNG"))
    content[16:24] = (60_000).to_bytes(4, "big") * 2
    assert not sound("PNG", bytes(content), pixels=100_000_000)


def test_a_gif_with_too_many_blocks_is_not_sound() -> None:
    assert not sound("GIF", image("GIF")[:-1] + b"!\xfe" + b"\x01a" * 200_000 + b"\0;")


# -- drawings

GOOD = {
    "a gradient": '<linearGradient id="g"/><rect fill="url(#g)"/>',
    "a style": "<style>.a { fill: red }</style>",
    "a link to a page": '<a href="https://example.com/">x</a>',
    "its own part": '<use xlink:href="#g"/>',
    "a picture that it carries": '<image href="data:image/png;base64,AAAA"/>',
    "its own part, with blanks": "<rect fill=\"url( '#g' )\"/>",
    "a character by its number": r'<style>.a::before { content: "\201C" }</style>',
}
EVIL = {
    "a script": "<script>alert(1)</script>",
    "a script of another prefix": '<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>',
    "a page": '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>',
    "a handler": '<rect onclick="alert(1)"/>',
    "a link that runs": '<a xlink:href="javascript:alert(1)"><text>x</text></a>',
    "a link that runs, hidden": '<a href="java&#10;script:alert(1)"/>',
    "a link to a page that it carries": '<a href="data:text/html,x"/>',
    "a change that makes a link run": '<a><animate attributeName="href" values="javascript:alert(1)"/></a>',
    "a picture from elsewhere": '<image href="https://example.com/x.png"/>',
    "a style from elsewhere": "<style>@import 'https://example.com/x.css';</style>",
    "a background from elsewhere": '<rect style="fill: url(https://example.com/x)"/>',
    "an address in numbers": r'<rect style="fill: \75rl(http://example.com/x)"/>',
    "an address in numbers and blanks": r'<rect style="fill: \000075 \72 l(http://example.com/x)"/>',
    "an address with needless signs": r'<rect style="fill: u\r\l(http://example.com/x)"/>',
    "a style from elsewhere in numbers": r"<style>@\69mport 'https://example.com/x.css';</style>",
    "a set of pictures from elsewhere": "<style>.a { background: image-set('https://example.com/x.png' 1x) }</style>",
    "a frame": "<iframe/>",
    "endless depth": "<g>" * 300 + "</g>" * 300,
    "an open element": "<g>",
}
NO_DRAWING = {
    "an entity": b'<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + drawing("&a;"),
    "a billion laughs": b'<!DOCTYPE svg [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>' + drawing("&b;"),
    "an outside entity": b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + drawing("&a;"),
    "a style sheet": b'<?xml-stylesheet href="https://example.com/x.css"?>' + drawing(),
    "defaults": b'<!DOCTYPE svg [<!ATTLIST rect onclick CDATA "alert(1)">]>' + drawing("<rect/>"),
    "no namespace": b"<svg><rect/></svg>",
    "a handler at its root": drawing(root='onload="alert(1)"'),
    "another root": b'<html xmlns="http://www.w3.org/1999/xhtml">' + drawing() + b"</html>",
    "something behind it": drawing() + b"<script/>",
}


@pytest.mark.parametrize("inside", GOOD.values(), ids=GOOD)
def test_a_drawing_is_sound(inside: str) -> None:
    assert is_sound_svg(io.BytesIO(drawing(inside)))


@pytest.mark.parametrize("inside", EVIL.values(), ids=EVIL)
def test_a_drawing_with_more_than_a_drawing_is_not_sound(inside: str) -> None:
    assert not is_sound_svg(io.BytesIO(drawing(inside)))


@pytest.mark.parametrize("content", NO_DRAWING.values(), ids=NO_DRAWING)
def test_a_document_that_is_no_plain_drawing_is_not_sound(content: bytes) -> None:
    assert not is_sound_svg(io.BytesIO(content))


# -- archives


@pytest.mark.parametrize(
    ("content", "opens"),
    [(archive("a"), True), (b"GIF89a" + archive("a"), True), (archive("a") + b"x", False), (PDF, False)],
    ids=["archive", "behind an image", "cut off", "document"],
)
def test_a_file_that_ends_as_a_zip_can_be_opened_as_one(content: bytes, opens: bool) -> None:
    assert ends_as_zip(content) == opens
