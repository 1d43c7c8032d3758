"""An RFC 3161 timestamp authority on loopback, certified only by its own root."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from asn1crypto import algos, cms, core, tsp
from asn1crypto import x509 as asn1x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.loopback import Handler, Server, serving

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

NAME = "Loopback Stamping"
_DAY = timedelta(days=1)
_SHA256 = algos.DigestAlgorithm({"algorithm": "sha256"})


@dataclass
class Authority:
    """A running authority; `roots` is the file of its root certificate.

    `says` is the time that it stamps with, `refuses` and `wrong` make it fail.
    """

    url: str
    roots: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    says: datetime
    refuses: bool = False
    wrong: bool = False

    def reply(self, query: bytes) -> bytes:
        """Answer a request."""
        if self.refuses:
            status = {"status": "rejection", "status_string": ["not today"]}
            said = tsp.PKIStatusInfo(status).dump()
            return bytes([0x30, len(said)]) + said  # the library knows no reply without a token
        asked = tsp.TimeStampReq.load(query)
        imprint = asked["message_imprint"]
        if self.wrong:
            imprint = {"hash_algorithm": _SHA256, "hashed_message": hashlib.sha256(b"x").digest()}
        about = tsp.TSTInfo(
            {
                "version": "v1",
                "policy": "1.2.3.4.1",
                "message_imprint": imprint,
                "serial_number": 7,
                "gen_time": self.says,
                "nonce": asked["nonce"],
            }
        )
        token = cms.ContentInfo({"content_type": "signed_data", "content": self._signed(about)})
        status = {"status": "granted"}
        return bytes(tsp.TimeStampResp({"status": status, "time_stamp_token": token}).dump())

    def _signed(self, about: tsp.TSTInfo) -> cms.SignedData:
        content, own = about.dump(), self.certificate.public_bytes(serialization.Encoding.DER)
        certificate = asn1x509.Certificate.load(own)
        attributes = cms.CMSAttributes(
            [
                _attribute("content_type", "tst_info"),
                _attribute("message_digest", hashlib.sha256(content).digest()),
                _attribute(
                    "signing_certificate_v2",
                    tsp.SigningCertificateV2(
                        {"certs": [{"cert_hash": hashlib.sha256(own).digest()}]}
                    ),
                ),
            ]
        )
        signature = self.key.sign(attributes.dump(), ec.ECDSA(hashes.SHA256()))
        signer = {
            "version": "v1",
            "sid": {
                "issuer_and_serial_number": {
                    "issuer": certificate.issuer,
                    "serial_number": certificate.serial_number,
                }
            },
            "digest_algorithm": _SHA256,
            "signed_attrs": attributes,
            "signature_algorithm": {"algorithm": "sha256_ecdsa"},
            "signature": signature,
        }
        return cms.SignedData(
            {
                "version": "v3",
                "digest_algorithms": [_SHA256],
                "encap_content_info": {
                    "content_type": "tst_info",
                    "content": core.ParsableOctetString(content),
                },
                "certificates": [certificate],
                "signer_infos": [signer],
            }
        )


def authority(folder: Path) -> AbstractContextManager[Authority]:
    """Run an authority until the block ends; its root certificate is stored in `folder`."""
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = _certificate("Loopback Root", root_key, "Loopback Root", root_key, ca=True)
    own = _certificate(NAME, key, "Loopback Root", root_key, ca=False)
    roots = folder / "roots.pem"
    roots.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    now = datetime.now(UTC).replace(microsecond=0)
    return serving(_Handler, lambda base: Authority(f"{base}/tsr", roots, key, own, now))


class _Handler(Handler):
    server: Server[Authority]

    def post(self, body: bytes) -> None:
        assert self.headers["Content-Type"] == "application/timestamp-query"
        self.send(200, "application/timestamp-reply", self.server.site.reply(body))


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    ca: bool,
) -> x509.Certificate:
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 400 * _DAY)
        .not_valid_after(now + _DAY)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    if not ca:
        use = x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.TIME_STAMPING])
        made = made.add_extension(use, critical=True)
    return made.sign(issuer_key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _attribute(kind: str, value: Any) -> cms.CMSAttribute:
    return cms.CMSAttribute({"type": kind, "values": [value]})
