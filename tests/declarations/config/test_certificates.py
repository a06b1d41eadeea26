"""Certificates that cannot be used are refused in one sentence, and the one in use stays."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from config.tls import Certificate, CertificateError, TlsFiles, check_certificate
from tests.support.certificates import DAY, Authority, Files


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def files_of(files: Files) -> TlsFiles:
    return TlsFiles(files.certificate, files.key)


def refusal(files: Files) -> str:
    """The sentence for files that cannot be used."""
    with pytest.raises(CertificateError) as refused:
        check_certificate(files_of(files))
    return str(refused.value)


def test_one_that_is_valid_can_be_used(authority: Authority) -> None:
    check_certificate(files_of(authority.issue()))


def test_one_that_has_ended_is_refused_with_the_day(authority: Authority) -> None:
    assert "server.pem ended on 20" in refusal(authority.issue(begins=-2 * DAY, ends=-DAY))


def test_one_that_has_not_begun_is_refused_with_the_clock(authority: Authority) -> None:
    sentence = refusal(authority.issue(begins=DAY))
    assert "begins on 20" in sentence
    assert "the clock says 20" in sentence


def test_a_key_of_another_certificate_is_refused(authority: Authority) -> None:
    files = Files(authority.issue("one").certificate, authority.issue("other").key)
    assert refusal(files).endswith("one.pem.")
    assert "other.key does not belong to the certificate in" in refusal(files)


def test_an_encrypted_key_is_refused_without_a_question(authority: Authority) -> None:
    assert "server.key is encrypted" in refusal(authority.issue(password=b"secret"))


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_files_that_are_no_pem_are_refused(authority: Authority, content: bytes) -> None:
    files = authority.issue()
    (sound, key) = files.certificate.read_bytes(), files.key
    files.certificate.write_bytes(content)
    assert "server.pem holds no certificate in PEM form" in refusal(files)
    files.certificate.write_bytes(sound)
    key.write_bytes(content)
    assert "server.key holds no key in PEM form" in refusal(files)


def test_files_that_are_missing_are_named(authority: Authority) -> None:
    files = authority.issue()
    files.key.unlink()
    assert refusal(files) == f"TRADEWIND_TLS_KEY: {files.key} cannot be read: No such file or directory."


def test_old_versions_and_ciphers_without_forward_secrecy_are_not_offered(authority: Authority) -> None:
    context = Certificate(files_of(authority.issue())).context
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    offered = {each["name"] for each in context.get_ciphers()}
    assert {name for name in offered if not name.startswith(("TLS_", "ECDHE-"))} == set()
    assert {name for name in offered if "GCM" not in name and "CHACHA20" not in name} == set()


def test_what_has_not_changed_is_not_read_again(authority: Authority) -> None:
    certificate = Certificate(files_of(authority.issue()))
    assert not certificate.renew()
    assert certificate.renew(unchanged=True)


def test_half_of_a_renewal_is_refused_and_the_whole_one_is_taken(authority: Authority) -> None:
    files, new = authority.issue(), authority.issue("new", ends=20 * DAY)
    certificate = Certificate(files_of(files))
    before = certificate.ends
    files.certificate.write_bytes(new.certificate.read_bytes())
    with pytest.raises(CertificateError, match="does not belong to"):
        certificate.renew()
    assert (certificate.ends, bool(certificate.refused)) == (before, True)
    assert not certificate.renew()  # what was refused is not read again and again
    files.key.write_bytes(new.key.read_bytes())
    assert certificate.renew()
    assert certificate.ends > before
    assert certificate.refused == ""


def test_a_process_that_comes_back_starts_with_one_that_has_ended(authority: Authority) -> None:
    assert Certificate(files_of(authority.issue(begins=-2 * DAY, ends=-DAY))).ends
