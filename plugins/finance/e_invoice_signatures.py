"""Checks the signatures of an OFD (GB/T 33190 chapter 18): digests of its files, the seal over them, and who signed.

Three links are checked: the files against the digests in `Signature.xml`, that file against the hash in the seal (GB/T
38540, or GM/T 0031 in earlier ones), and the seal's SM2 signature against the certificate in it. Whoever changes a file
breaks one of them. They prove who signed only where that certificate is trusted: it is one of the given authorities, or
issued by one. This module imports nothing of the service.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

# why a result is what it is
NONE, UNSUPPORTED, NOT_COVERED, ALTERED, FORGED, UNTRUSTED, NOT_IN_FORCE, TRUSTED = (
    *("none", "unsupported", "not_covered", "altered", "forged"),
    *("untrusted", "not_in_force", "trusted"),
)
_SM2_SM3 = bytes.fromhex("2a811ccf55018375")  # the algorithm 1.2.156.10197.1.501
_SM3_NAMES = frozenset({"1.2.156.10197.1.401", "SM3"})
_WEAK = {
    "": hashlib.md5,
    "MD5": hashlib.md5,
    "SHA1": hashlib.sha1,
    "SHA-1": hashlib.sha1,
    "1.3.14.3.2.26": hashlib.sha1,
}
_IDENTITY = b"1234567812345678"  # the signer's, where none is agreed (GM/T 0009)
_MOST_SIGNATURES, _MOST_REFERENCES, _MOST_SIGNED = 4, 1_000, 128 << 10
_INTEGER, _BITS, _OCTETS, _OID, _SEQUENCE, _VERSION = 0x02, 0x03, 0x04, 0x06, 0x30, 0xA0
_DAY = re.compile(r"(\d{4})\D?(\d{2})\D?(\d{2})")

Read = Callable[[str], bytes | None]
Parse = Callable[[bytes], Element]


class _Unsupported(ValueError):
    """The signature has a form that cannot be checked."""


class _Altered(ValueError):
    """A file is not what was signed."""


@dataclass(frozen=True)
class Checked:
    """The result, the reason for it, whom the certificate names, and the files that the signature covers, if known."""

    result: Literal["valid", "invalid", "unknown"]
    reason: str
    signer: str | None = None
    covers: frozenset[str] | None = None


@dataclass(frozen=True)
class _Seal:
    """What a seal signs (`signed`), the hash of `Signature.xml` in it, its certificate, algorithm and signature."""

    signed: bytes
    hash: bytes
    certificate: bytes
    algorithm: bytes
    signature: bytes


def check_archive(read: Read, parse: Parse, authorities: Sequence[str]) -> Checked:
    """Check all signatures of an OFD: one that is invalid decides, then the first that is valid, then the first."""
    index = _find_index(read, parse)
    places = [_resolve(one.get("BaseLoc", ""), index[0]) for one in index[1]] if index is not None else []
    if not places or len(places) > _MOST_SIGNATURES:
        return Checked("unknown", UNSUPPORTED if places else NONE)
    checked = [_check(place, read, parse, authorities) for place in places]
    for wanted in ("invalid", "valid"):
        if found := next((one for one in checked if one.result == wanted), None):
            return found
    return checked[0]


def _find_index(read: Read, parse: Parse) -> tuple[str, list[Element]] | None:
    """Return the name of the list of signatures, and what it lists."""
    main = read("OFD.xml")
    named = parse(main).find(".//Signatures") if main is not None else None
    name = _resolve((named.text or "").strip(), "OFD.xml") if named is not None else ""
    content = read(name)
    return (name, parse(content).findall("Signature")) if content is not None else None


def _resolve(path: str, beside: str) -> str:
    """Return the name of a file that another one names: below the root of the archive, or beside that one."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(beside), path)).lstrip("/")


def _check(place: str, read: Read, parse: Parse, authorities: Sequence[str]) -> Checked:
    content = read(place)
    if content is None:
        return Checked("invalid", ALTERED)
    root = parse(content)
    covers: frozenset[str] | None = None
    try:
        covers, strong = _check_references(place, root, read)
        seal = _read_seal(read(_resolve((root.findtext("SignedValue") or "").strip(), place)) or b"")
        if seal.algorithm != _SM2_SM3 or len(seal.signed) > _MOST_SIGNED:
            raise _Unsupported("algorithm")
        if seal.hash != _sm3(content):
            return Checked("invalid", ALTERED)
        certificate = _load(seal.certificate)
        if not _is_signed(seal.signed, seal.signature, certificate):
            return Checked("invalid", FORGED)
        signer, day = _name_of(certificate), _find_day(root)
        in_force = day is not None and certificate.not_valid_before_utc <= day <= certificate.not_valid_after_utc
    except _Altered:
        return Checked("invalid", ALTERED)
    except ValueError:  # also of parts of the certificate, which are read late
        return Checked("unknown", UNSUPPORTED, None, covers)
    if not strong:
        return Checked("unknown", UNSUPPORTED, signer, covers)
    if not any(_trusts(pem, certificate) for pem in authorities):
        return Checked("unknown", UNTRUSTED, signer, covers)
    return Checked("valid", TRUSTED, signer, covers) if in_force else Checked("unknown", NOT_IN_FORCE, signer, covers)


def _check_references(place: str, root: Element, read: Read) -> tuple[frozenset[str], bool]:
    """Return the files with a digest, which they have, and whether nobody can make another file with the same one.

    Raises `_Altered` for a file with another digest, or without content.
    """
    references = root.find("SignedInfo/References")
    listed = references.findall("Reference") if references is not None else []
    if references is None or not listed or len(listed) > _MOST_REFERENCES:
        raise _Unsupported("references")
    method = references.get("CheckMethod", "").upper()
    if method not in _SM3_NAMES and method not in _WEAK:
        raise _Unsupported(method)
    covers = set()
    for one in listed:
        name = _resolve(one.get("FileRef", ""), place)
        content = read(name)
        if content is None:
            raise _Altered(name)
        digest = _sm3(content) if method in _SM3_NAMES else _WEAK[method](content, usedforsecurity=False).digest()
        if digest != _decode(one.findtext("CheckValue") or ""):
            raise _Altered(name)
        covers.add(name)
    return frozenset(covers), method in _SM3_NAMES


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _sm3(content: bytes) -> bytes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes

    try:
        digest = hashes.Hash(hashes.SM3())
    except UnsupportedAlgorithm as error:  # of an OpenSSL that was built without it
        raise _Unsupported("SM3") from error
    digest.update(content)
    return digest.finalize()


def _read_seal(content: bytes) -> _Seal:
    """Return what matters of a seal in DER: GB/T 38540, or GM/T 0031, which has the certificate in what is signed."""
    parts = _parts_of(content, _SEQUENCE)
    signed = _parts_of(parts[0].whole, _SEQUENCE) if parts else []
    of_certificate = parts[1:3] if len(parts) >= 4 else signed[5:7]
    if len(parts) < 2 or len(signed) < 5 or [one.tag for one in of_certificate] != [_OCTETS, _OID]:
        raise _Unsupported("seal")
    certificate, algorithm = of_certificate
    last = parts[3] if len(parts) >= 4 else parts[1]
    return _Seal(parts[0].whole, signed[3].bits, certificate.content, algorithm.content, last.bits)


@dataclass(frozen=True)
class _Part:
    """A value in DER: its tag, its content, and the whole of it."""

    tag: int
    content: bytes
    whole: bytes

    @property
    def bits(self) -> bytes:
        """The content of a bit string of whole bytes."""
        if self.tag != _BITS or self.content[:1] != b"\0":
            raise _Unsupported("bit string")
        return self.content[1:]


def _parts_of(content: bytes, tag: int) -> list[_Part]:
    """Return the parts of a value in DER that has this tag."""
    first = next(_parts(content), None)
    if first is None or first.tag != tag:
        raise _Unsupported("tag")
    return [*_parts(first.content)]


def _parts(content: bytes) -> Iterator[_Part]:
    at = 0
    while at < len(content):
        head, size = at + 2, content[at + 1] if at + 1 < len(content) else 0x80
        if size >= 0x80:  # the length is in the following bytes
            many = size & 0x7F
            if not 1 <= many <= 4 or head + many > len(content):
                raise _Unsupported("length")
            size, head = int.from_bytes(content[head : head + many], "big"), head + many
        if head + size > len(content):
            raise _Unsupported("length")
        yield _Part(content[at], content[head : head + size], content[at : head + size])
        at = head + size


def _load(content: bytes) -> Certificate:
    from cryptography import x509

    try:
        return x509.load_der_x509_certificate(content)
    except (ValueError, x509.InvalidVersion) as error:
        raise _Unsupported("certificate") from error


def _is_signed(message: bytes, signature: bytes, certificate: Certificate) -> bool:
    """Return whether this is the SM2 signature (GM/T 0009) of the key in a certificate."""
    from gmalg import SM2
    from gmalg.errors import GMError

    fields = _parts_of(certificate.tbs_certificate_bytes, _SEQUENCE)
    of_key = fields[6:7] if fields and fields[0].tag == _VERSION else fields[5:6]
    key = _parts_of(of_key[0].whole, _SEQUENCE)[1:] if of_key else []
    numbers = _parts_of(signature, _SEQUENCE)
    if not key or [one.tag for one in numbers] != [_INTEGER, _INTEGER] or len(key[0].bits) != 65:
        raise _Unsupported("key")
    r, s = (one.content.lstrip(b"\0") for one in numbers)
    try:
        return bool(SM2(uid=_IDENTITY, pk=key[0].bits).verify(message, r, s))
    except (GMError, TypeError, ValueError):
        return False


def _trusts(pem: str, certificate: Certificate) -> bool:
    """Return whether a certificate is this trusted one, or was issued by it."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        authority = x509.load_pem_x509_certificate(pem.encode())
        if authority.public_bytes(Encoding.DER) == certificate.public_bytes(Encoding.DER):
            return True
        issues = authority.subject == certificate.issuer and _may_issue(authority)
        return issues and _is_signed(certificate.tbs_certificate_bytes, certificate.signature, authority)
    except ValueError:  # what an administrator has entered is no certificate, or not one with such a key
        return False


def _may_issue(authority: Certificate) -> bool:
    from cryptography import x509

    try:
        return authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        return False


def _name_of(certificate: Certificate) -> str | None:
    """Return the name of whom a certificate is of: its common name, or else its organization."""
    from cryptography.x509.oid import NameOID

    named = (
        certificate.subject.get_attributes_for_oid(oid) for oid in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
    )
    return next((str(one.value)[:200] for found in named for one in found), None)


def _find_day(root: Element) -> datetime | None:
    """Return the day of a signature."""
    parts = _DAY.match((root.findtext("SignedInfo/SignatureDateTime") or "").strip())
    try:
        return datetime(int(parts[1]), int(parts[2]), int(parts[3]), tzinfo=UTC) if parts is not None else None
    except ValueError:
        return None
