"""Timestamps, and those of RFC 3161: an authority signs a digest with the time.

The token is its whole reply, as `openssl ts -verify -digest DIGEST -in TOKEN` takes it.
"""

from __future__ import annotations

import os
import secrets
import warnings
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from agent.errors import ResearchError, UsageError
from browser.net.transport import certificates

if TYPE_CHECKING:
    from datetime import datetime

SECONDS = 20.0  # who stamps answers in one; nobody waits for one that is down
_MOST_BYTES = 100_000  # a token with a chain of certificates has some 5,000
_SHA256 = "2.16.840.1.101.3.4.2.1"
_NONCE_BYTES = 8
# A TimeStampReq in DER; the library's builder hashes what it is given, and takes no digest. With a
# digest and a nonce of fixed size all its lengths are fixed: version 1, the digest with the name of
# SHA-256 before it, the nonce, "send your certificate".
_REQUEST = bytes.fromhex("3043 020101 3031 300d0609608648016503040201 0500 0420")
_THEN_NONCE = bytes.fromhex("0208")
_WITH_CERTIFICATE = bytes.fromhex("0101ff")
_REASON = "Verify error: "  # before the one line of OpenSSL's stack that tells


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who says that a digest existed, and when (UTC).

    `when` is None where nobody can be held to a time yet; `note` says then what is missing.
    """

    when: datetime | None
    authority: str
    note: str = ""

    def __str__(self) -> str:
        """Tell it after "there since" or "existed at": a time, or that there is none yet."""
        return (
            f"{self.when:%Y-%m-%d %H:%M:%S} UTC, says {self.authority}" if self.when else self.note
        )


class TimestampFailed(ResearchError):
    """Who was asked for a timestamp cannot be reached, refuses, or answers something else."""

    exit_code = 6
    hint = "Nothing else is lost: try again later, or name another one."


class TimestampInvalid(ResearchError):
    """A token does not show that this digest existed at its time."""

    exit_code = 8
    hint = "If you trust the authority, name the file of its root certificate (--roots)."


def ask(
    method: str, url: str, headers: dict[str, str], body: bytes | None, proxy: str | None
) -> tuple[int, bytes]:
    """Send a request; gives status and body. Raises `TimestampFailed` where none comes.

    The body is read as it came: a packed one could grow without end, and was not asked for.
    """
    sent = {"Accept-Encoding": "identity", **headers}
    reply = b""
    try:
        with (
            httpx2.Client(
                proxy=proxy, timeout=SECONDS, trust_env=False, verify=certificates()
            ) as client,
            client.stream(method, url, content=body, headers=sent) as answer,
        ):
            for part in answer.iter_raw():
                reply += part
                if len(reply) > _MOST_BYTES:
                    raise TimestampFailed(f"{answer.url} sent more than a timestamp has")
            return answer.status_code, reply
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise TimestampFailed(f"{url} gave no timestamp: {error}") from error


def stamp(digest: bytes, authority: str, *, proxy: str | None = None) -> bytes:
    """Have a SHA-256 digest stamped by the authority at this URL; returns the token.

    Raises `TimestampFailed`, and `UsageError` where the extra `timestamp` is not installed.
    """
    rfc3161 = _library()
    nonce = secrets.randbits(8 * _NONCE_BYTES - 2) | 1 << (8 * _NONCE_BYTES - 2)
    asked = _REQUEST + digest + _THEN_NONCE + nonce.to_bytes(_NONCE_BYTES) + _WITH_CERTIFICATE
    headers = {"Content-Type": "application/timestamp-query"}
    status, token = ask("POST", authority, headers, asked, proxy)
    if status != HTTPStatus.OK:
        raise TimestampFailed(f"{authority} gave no timestamp: HTTP {status}")
    try:
        said = rfc3161.decode_timestamp_response(token)
        if said.status > rfc3161.PKIStatus.GRANTED_WITH_MODS:
            raise TimestampFailed(f"{authority} refused: {'; '.join(said.status_string)}")
        about = said.tst_info
    except ValueError as error:
        raise TimestampFailed(f"{authority} sent no timestamp: {error}") from error
    if about.nonce != nonce or about.message_imprint.message != digest:
        raise TimestampFailed(f"{authority} stamped something else")
    return token


def check(token: bytes, digest: bytes, roots: Path | None = None) -> Stamp:
    """Check that a token stamps this SHA-256 digest, signed by whom a root vouches for.

    `roots` is a file of certificates (PEM); SSL_CERT_FILE, or those that browsers trust, unless
    told. Certificates need to hold at the stamp's time, not today. Raises `TimestampInvalid`.
    """
    rfc3161 = _library()
    try:
        said = rfc3161.decode_timestamp_response(token)
        about = said.tst_info
        if about.message_imprint.hash_algorithm.dotted_string != _SHA256:
            raise TimestampInvalid("the token is not about a SHA-256 digest")
        rfc3161.VerifierBuilder(roots=_certificates(roots)).build().verify(said, digest)
    except (ValueError, rfc3161.VerificationError) as error:
        _, told, reason = str(error).partition(_REASON)
        why = reason.partition('"')[0] if told else str(error).partition(": ErrorStack")[0]
        raise TimestampInvalid(f"the timestamp does not hold: {why}") from error
    return Stamp(about.gen_time, _signer(said.signed_data))


def _certificates(roots: Path | None) -> list[Any]:
    import certifi  # noqa: PLC0415 - stamping is seldom asked for
    from cryptography import x509  # noqa: PLC0415 - an extra

    file = roots or Path(os.environ.get("SSL_CERT_FILE") or certifi.where())
    try:
        with warnings.catch_warnings():  # that an old root's serial number is 0 is not our affair
            warnings.simplefilter("ignore")
            return x509.load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read root certificates from {file}: {error}") from error


def _signer(signed: Any) -> str:
    """Name whose certificate signed, by its common name where it has one."""
    from cryptography import x509  # noqa: PLC0415 - an extra

    (signer,) = signed.signer_infos
    named = signer.issuer
    for certificate in map(x509.load_der_x509_certificate, signed.certificates):
        if (certificate.issuer, certificate.serial_number) == (named, signer.serial_number):
            named = certificate.subject
    common = named.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(common[0].value) if common else str(named.rfc4514_string())


def _library() -> Any:
    try:
        import rfc3161_client  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            "timestamps are not installed", hint="pip install 'urchin-research[timestamp]'"
        ) from error
    return rfc3161_client
