"""RFC 3161 timestamps: an authority signs a digest together with the time.

The token is the authority's complete reply, as accepted by `openssl ts -verify -digest DIGEST -in
TOKEN`.
"""

from __future__ import annotations

import os
import secrets
import warnings
from http import HTTPStatus
from pathlib import Path
from typing import Any

from agent.errors import UsageError
from agent.sealing import Stamp, TimestampFailed, TimestampInvalid, send_request

_SHA256 = "2.16.840.1.101.3.4.2.1"
_NONCE_BYTES = 8  # size of the random number that the reply must repeat
# A TimeStampReq in DER; the library's builder hashes its input, so it cannot be used for a digest.
# The digest and the nonce have fixed sizes, so all lengths are fixed. The parts are: version 1, the
# digest preceded by the identifier of SHA-256, the nonce, and "send your certificate".
_REQUEST_HEAD = bytes.fromhex("3043 020101 3031 300d0609608648016503040201 0500 0420")
_NONCE_HEAD = bytes.fromhex("0208")
_CERTIFICATE_REQUESTED = bytes.fromhex("0101ff")
_REASON_PREFIX = "Verify error: "  # precedes the only informative line of OpenSSL's error stack


def stamp(digest: bytes, authority: str, *, proxy: str | None = None) -> bytes:
    """Have the authority at this URL timestamp a SHA-256 digest; returns the token.

    Raises `TimestampFailed`, and `UsageError` if the library is not installed.
    """
    rfc3161 = _library()
    nonce = secrets.randbits(8 * _NONCE_BYTES - 2) | 1 << (8 * _NONCE_BYTES - 2)
    asked = (
        _REQUEST_HEAD + digest + _NONCE_HEAD + nonce.to_bytes(_NONCE_BYTES) + _CERTIFICATE_REQUESTED
    )
    headers = {"Content-Type": "application/timestamp-query"}
    status, token = send_request("POST", authority, headers, asked, proxy)
    if status != HTTPStatus.OK:
        raise TimestampFailed(f"{authority} returned no timestamp: HTTP {status}")
    try:
        reply = rfc3161.decode_timestamp_response(token)
        if reply.status > rfc3161.PKIStatus.GRANTED_WITH_MODS:
            raise TimestampFailed(f"{authority} refused: {'; '.join(reply.status_string)}")
        info = reply.tst_info
    except ValueError as error:
        raise TimestampFailed(f"{authority} did not send a timestamp: {error}") from error
    if info.nonce != nonce or info.message_imprint.message != digest:
        raise TimestampFailed(f"{authority} timestamped different data")
    return token


def check(token: bytes, digest: bytes, roots: Path | None = None) -> Stamp:
    """Check that a token timestamps this SHA-256 digest and that a root certifies its signer.

    `roots` is a certificate file (PEM); the default is SSL_CERT_FILE, or the certificates that
    browsers trust. Certificates must be valid at the time of the timestamp, not today. Raises
    `TimestampInvalid`.
    """
    rfc3161 = _library()
    try:
        reply = rfc3161.decode_timestamp_response(token)
        info = reply.tst_info
        if info.message_imprint.hash_algorithm.dotted_string != _SHA256:
            raise TimestampInvalid("the token does not cover a SHA-256 digest")
        rfc3161.VerifierBuilder(roots=_certificates(roots)).build().verify(reply, digest)
    except (ValueError, rfc3161.VerificationError) as error:
        _, told, reason = str(error).partition(_REASON_PREFIX)
        why = reason.partition('"')[0] if told else str(error).partition(": ErrorStack")[0]
        raise TimestampInvalid(f"the timestamp is not valid: {why}") from error
    return Stamp(info.gen_time, _signer(reply.signed_data))


def _certificates(roots: Path | None) -> list[Any]:
    import certifi  # noqa: PLC0415 - timestamps are rarely used
    from cryptography import x509  # noqa: PLC0415 - an extra

    file = roots or Path(os.environ.get("SSL_CERT_FILE") or certifi.where())
    try:
        with (
            warnings.catch_warnings()
        ):  # an old root has the serial number 0, which is harmless here
            warnings.simplefilter("ignore")
            return x509.load_pem_x509_certificates(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read root certificates from {file}: {error}") from error


def _signer(signed: Any) -> str:
    """Return the timestamp's signer, by common name if the certificate has one."""
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
            "timestamp support is not installed", hint="pip install 'urchin-extras[timestamps]'"
        ) from error
    return rfc3161_client
