"""What a file is, told by its content; the name only decides among types that look the same from outside.

puremagic knows the signatures. Text, markup and the kinds of ZIP it cannot tell apart are told here.
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
TAIL_BYTES = 128 << 10  # where a ZIP has its table of contents


@dataclass(frozen=True)
class FileType:
    """A type: its media type and usual extension.

    `magic`: the extensions by which puremagic knows it. `inline`: a browser shows it and runs nothing of it.
    """

    media: str
    extension: str
    magic: tuple[str, ...] = ()
    inline: bool = False

    @property
    def major(self) -> str:
        """`image`, `audio`, …"""
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

# what browsers render as a document of their own is on neither list
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
# what these begin with may be text all the same
_BEFORE_TEXT = (PDF, RTF, BY_MEDIA["audio/amr"])
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# the tags by which browsers take text for HTML (WHATWG MIME Sniffing 7.1), and what servers run
_HTML = re.compile(
    rb"<(!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--|\?php)(?=[\s>/-]|$)",
    re.IGNORECASE,
)
_PROLOGUE = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(\[.*?\]\s*)?>", re.DOTALL)
_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")


def canonical(media: str) -> str:
    """A declared media type in small letters, without parameters, under the name that the service uses."""
    plain = media.partition(";")[0].strip().lower()
    return _ALIASES.get(plain, plain)


def detect(head: bytes, tail: bytes, name: str) -> FileType:
    """The type of a file by its first bytes, and of an archive by its last; `UNKNOWN` for what is none of the types."""
    found = _by_magic(head)
    if found in _BEFORE_TEXT:
        return found
    if not _BINARY.search(head):
        return _text(head, extension_of(name))
    if found is ZIP:
        return _zip(tail, extension_of(name))
    return _named(_OF_OLE, extension_of(name), UNKNOWN) if found is OLE else found


def _by_magic(head: bytes) -> FileType:
    import puremagic  # a start need not wait for it

    try:
        matches = puremagic.magic_string(head)
    except (puremagic.PureError, ValueError):
        return UNKNOWN
    return next((_BY_MAGIC[match.extension] for match in matches if match.extension in _BY_MAGIC), UNKNOWN)


def _text(head: bytes, extension: str) -> FileType:
    plain = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if plain.startswith(b"<"):
        root = _root(plain)
        if root == b"svg":
            return SVG
        if root == b"html" or _HTML.match(plain):
            return HTML
        if plain.startswith((b"<?xml", b"<!DOCTYPE")):
            return XML
    return _named(_OF_TEXT, extension, TEXT)


def _root(text: bytes) -> bytes:
    """The name of the first element, behind declarations and comments."""
    at = 0
    while at < len(text) and (found := _PROLOGUE.match(text, at)):
        at = found.end()
    root = _ROOT.match(text, at)
    return root.group(1).lower() if root else b""


def _zip(tail: bytes, extension: str) -> FileType:
    entries = _entries(tail)
    for start, of in _OF_ZIP:
        if any(entry.startswith(start) for entry in entries):
            return _BY_EXTENSION[of]
    return _named(_OF_ODF, extension, ZIP) if "mimetype" in entries else ZIP


def _entries(tail: bytes) -> list[str]:
    """The names in a ZIP, as far as its last bytes hold its table of contents."""
    try:
        with zipfile.ZipFile(io.BytesIO(tail)) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return []


def _named(family: Iterable[str], extension: str, otherwise: FileType) -> FileType:
    return _BY_EXTENSION[extension] if extension in family else otherwise


def extension_of(name: str) -> str:
    """`.png` of `Photo.PNG`; empty where there is none."""
    return PurePosixPath(name).suffix.lower()


def claims(name: str, media: str) -> list[FileType]:
    """What a name and a declared media type say that a file is."""
    said = (_BY_EXTENSION.get(extension_of(name)), BY_MEDIA.get(canonical(media)))
    return [type for type in said if type is not None and type is not UNKNOWN]


def contradicts(claimed: FileType, found: FileType) -> bool:
    """Whether a file is something else than was said of it, where people and programs rely on the word.

    A photo may be of another image format than its name says: phones and messengers do that.
    """
    if claimed.major in ("audio", "video"):
        return found.major not in ("audio", "video")
    return found.major != "image" if claimed.major == "image" else claimed is PDF and found is not PDF


def ends_as_zip(tail: bytes) -> bool:
    """Whether the file can be opened as a ZIP whatever it begins with: its directory's end record ends the file."""
    at = tail.rfind(b"PK\x05\x06")
    return at >= 0 and len(tail) >= at + 22 and at + 22 + int.from_bytes(tail[at + 20 : at + 22], "little") == len(tail)
