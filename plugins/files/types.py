"""Detects the type of a file from its content. The name only decides between types with the same signature.

puremagic knows the signatures. This module adds text, markup and the kinds of ZIP, which puremagic cannot distinguish.
"""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

HEAD_BYTES = 64 << 10  # the longest signature of puremagic ends at 37 KiB
TAIL_BYTES = 128 << 10  # a ZIP has its table of contents at the end


@dataclass(frozen=True)
class FileType:
    """A type: its media type and usual extension.

    `magic`: puremagic's extensions for it. `inline`: browsers display it without running anything.
    """

    media: str
    extension: str
    magic: tuple[str, ...] = ()
    inline: bool = False

    @property
    def major(self) -> str:
        """The part of the media type before the slash: `image`, `audio`, …"""
        return self.media.partition("/")[0]


_OFFICE = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"

UNKNOWN = FileType("application/octet-stream", ".bin")
TEXT = FileType("text/plain", ".txt", inline=True)
HTML = FileType("text/html", ".html")
XML = FileType("application/xml", ".xml")
SVG = FileType("image/svg+xml", ".svg")
ZIP = FileType("application/zip", ".zip", (".zip", ".docx"))
OLE = FileType("application/x-ole-storage", ".ole", (".doc",))
PDF = FileType("application/pdf", ".pdf", (".pdf",))
RTF = FileType("application/rtf", ".rtf", (".rtf",))
PNG = FileType("image/png", ".png", (".png",), inline=True)
JPEG = FileType("image/jpeg", ".jpg", (".jpeg", ".jpg", ".jfif"), inline=True)
GIF = FileType("image/gif", ".gif", (".gif",), inline=True)
WEBP = FileType("image/webp", ".webp", (".webp",), inline=True)

TYPES: tuple[FileType, ...] = (
    UNKNOWN,
    TEXT,
    HTML,
    XML,
    SVG,
    ZIP,
    OLE,
    PDF,
    RTF,
    PNG,
    JPEG,
    GIF,
    WEBP,
    FileType("image/avif", ".avif", (".avif",), inline=True),
    FileType("image/bmp", ".bmp", (".bmp",), inline=True),
    FileType("image/x-icon", ".ico", (".ico",), inline=True),
    FileType("image/tiff", ".tif", (".tif", ".tiff")),
    FileType("image/heic", ".heic", (".heic", ".heif")),
    FileType("image/x-dwg", ".dwg", (".dwg",)),
    FileType("video/mp4", ".mp4", (".mp4",), inline=True),
    FileType("video/webm", ".webm", (".webm",), inline=True),
    FileType("video/quicktime", ".mov", (".mov",), inline=True),
    FileType("video/x-msvideo", ".avi", (".avi",), inline=True),
    FileType("audio/mpeg", ".mp3", (".mp3", ".mpga"), inline=True),
    FileType("audio/mp4", ".m4a", (".m4a",), inline=True),
    FileType("audio/wav", ".wav", (".wav",), inline=True),
    FileType("audio/ogg", ".ogg", (".ogg",), inline=True),
    FileType("audio/flac", ".flac", (".flac",), inline=True),
    FileType("audio/amr", ".amr", (".amr",), inline=True),
    FileType("application/x-7z-compressed", ".7z", (".7z",)),
    FileType("application/vnd.rar", ".rar", (".rar",)),
    FileType("application/gzip", ".gz", (".gz",)),
    FileType("application/x-tar", ".tar", (".tar",)),
    FileType("text/csv", ".csv"),
    FileType("text/markdown", ".md"),
    FileType("application/json", ".json"),
    FileType(f"{_OFFICE}.wordprocessingml.document", ".docx"),
    FileType(f"{_OFFICE}.spreadsheetml.sheet", ".xlsx"),
    FileType(f"{_OFFICE}.presentationml.presentation", ".pptx"),
    FileType(f"{_ODF}.text", ".odt"),
    FileType(f"{_ODF}.spreadsheet", ".ods"),
    FileType(f"{_ODF}.presentation", ".odp"),
    FileType("application/ofd", ".ofd"),
    FileType("application/msword", ".doc"),
    FileType("application/vnd.ms-excel", ".xls"),
    FileType("application/vnd.ms-powerpoint", ".ppt"),
    FileType("application/vnd.ms-outlook", ".msg"),
    FileType("application/vnd.visio", ".vsd"),
    FileType("application/wps-office.wps", ".wps"),
    FileType("application/wps-office.et", ".et"),
    FileType("application/wps-office.dps", ".dps"),
)

BY_MEDIA = {type.media: type for type in TYPES}
_BY_EXTENSION = {type.extension: type for type in TYPES} | {
    ".jpeg": JPEG,
    ".htm": HTML,
    ".tiff": BY_MEDIA["image/tiff"],
}
_BY_MAGIC = {extension: type for type in TYPES for extension in type.magic}
_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "text/xml": "application/xml",
    "application/x-zip-compressed": "application/zip",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "image/vnd.microsoft.icon": "image/x-icon",
    "image/heif": "image/heic",
}

# neither list has HTML, which browsers render as a document
PRIVATE_TYPES = tuple(type.media for type in TYPES if type not in (UNKNOWN, HTML, OLE))
PUBLIC_TYPES = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "image/x-icon",
    "image/svg+xml",
    "application/pdf",
    "video/mp4",
    "video/webm",
    "audio/mpeg",
)

_OF_TEXT = (".csv", ".md", ".json")
_OF_OLE = (".doc", ".xls", ".ppt", ".msg", ".vsd", ".wps", ".et", ".dps")
_OF_ZIP = (("word/", ".docx"), ("xl/", ".xlsx"), ("ppt/", ".pptx"), ("OFD.xml", ".ofd"))
_OF_ODF = (".odt", ".ods", ".odp")
# their signatures consist of text characters
_BEFORE_TEXT = (PDF, RTF, BY_MEDIA["audio/amr"])
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# the tags by which browsers detect HTML (WHATWG MIME Sniffing 7.1), and PHP
_HTML = re.compile(
    rb"<(!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--|\?php)(?=[\s>/-]|$)",
    re.IGNORECASE,
)
_PROLOGUE = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(\[.*?\]\s*)?>", re.DOTALL)
_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")


def normalise_media(media: str) -> str:
    """Return a declared media type in lower case, without parameters and aliases."""
    plain = media.partition(";")[0].strip().lower()
    return _ALIASES.get(plain, plain)


def detect(head: bytes, tail: bytes, name: str) -> FileType:
    """Return the type of a file by its first bytes, or of an archive by its last bytes; `UNKNOWN` for all others."""
    found = _detect_by_magic(head)
    if found in _BEFORE_TEXT:
        return found
    if not _BINARY.search(head):
        return _detect_text(head, get_extension(name))
    if found is ZIP:
        return _detect_zip(tail, get_extension(name))
    return _choose_by_name(_OF_OLE, get_extension(name), UNKNOWN) if found is OLE else found


def _detect_by_magic(head: bytes) -> FileType:
    import puremagic  # imported late to keep the start fast

    try:
        matches = puremagic.magic_string(head)
    except (puremagic.PureError, ValueError):
        return UNKNOWN
    return next((_BY_MAGIC[match.extension] for match in matches if match.extension in _BY_MAGIC), UNKNOWN)


def _detect_text(head: bytes, extension: str) -> FileType:
    plain = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if plain.startswith(b"<"):
        root = _find_root(plain)
        if root == b"svg":
            return SVG
        if root == b"html" or _HTML.match(plain):
            return HTML
        if plain.startswith((b"<?xml", b"<!DOCTYPE")):
            return XML
    return _choose_by_name(_OF_TEXT, extension, TEXT)


def _find_root(text: bytes) -> bytes:
    """Return the name of the first element after declarations and comments."""
    at = 0
    while at < len(text) and (found := _PROLOGUE.match(text, at)):
        at = found.end()
    root = _ROOT.match(text, at)
    return root.group(1).lower() if root else b""


def _detect_zip(tail: bytes, extension: str) -> FileType:
    entries = _list_entries(tail)
    for start, of in _OF_ZIP:
        if any(entry.startswith(start) for entry in entries):
            return _BY_EXTENSION[of]
    return _choose_by_name(_OF_ODF, extension, ZIP) if "mimetype" in entries else ZIP


def _list_entries(tail: bytes) -> list[str]:
    """Return the names in a ZIP, if its last bytes contain the table of contents."""
    try:
        with zipfile.ZipFile(io.BytesIO(tail)) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return []


def _choose_by_name(family: Iterable[str], extension: str, otherwise: FileType) -> FileType:
    return _BY_EXTENSION[extension] if extension in family else otherwise


def get_extension(name: str) -> str:
    """Return `.png` for `Photo.PNG`, and an empty string without an extension."""
    return PurePosixPath(name).suffix.lower()


def list_claims(name: str, media: str) -> list[FileType]:
    """Return the types that the name and the declared media type claim."""
    claimed = (_BY_EXTENSION.get(get_extension(name)), BY_MEDIA.get(normalise_media(media)))
    return [type for type in claimed if type is not None and type is not UNKNOWN]


def contradicts(claimed: FileType, found: FileType) -> bool:
    """Return whether the detected type contradicts the claimed one, for images, audio, video and PDF.

    A photo may have another image format than its name says, because phones and messengers do that.
    """
    if claimed.major in ("audio", "video"):
        return found.major not in ("audio", "video")
    return found.major != "image" if claimed.major == "image" else claimed is PDF and found is not PDF


def ends_as_zip(tail: bytes) -> bool:
    """Return whether the file can be opened as a ZIP, whatever it begins with: it ends with the end record of a ZIP."""
    at = tail.rfind(b"PK\x05\x06")
    return at >= 0 and len(tail) >= at + 22 and at + 22 + int.from_bytes(tail[at + 20 : at + 22], "little") == len(tail)
