"""A certificate authority for simulated endpoints that are reached by https only."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcert.core.errors import MissingExtraError, install_line

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

_LIFETIME = timedelta(days=2)


class Authority:
    """A new CA, a server certificate for this machine signed by it, and the CA file that clients must trust."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="toolcert-tls-")
        self.bundle = Path(self._folder.name) / "ca.pem"
        self._key_file = Path(self._folder.name) / "server.pem"
        self._write()

    def context(self) -> ssl.SSLContext:
        """The TLS settings of the server."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._key_file)
        return context

    def close(self) -> None:
        """Delete the files."""
        self._folder.cleanup()

    def _write(self) -> None:
        serialization = _library("cryptography.hazmat.primitives.serialization")
        ca_key, server_key = _new_key(), _new_key()
        ca = _certificate("toolcert simulated CA", ca_key, ca_key, issuer=None)
        server = _certificate("localhost", server_key, ca_key, issuer=ca)
        pem = serialization.Encoding.PEM
        self.bundle.write_bytes(ca.public_bytes(pem))
        secret = server_key.private_bytes(
            pem, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        self._key_file.write_bytes(secret + server.public_bytes(pem))


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise MissingExtraError(
            "Simulating an https endpoint needs the package cryptography.", remedy=install_line("tls")
        ) from problem


def _new_key() -> EllipticCurvePrivateKey:
    curves = _library("cryptography.hazmat.primitives.asymmetric.ec")
    key: EllipticCurvePrivateKey = curves.generate_private_key(curves.SECP256R1())
    return key


def _certificate(
    name: str,
    key: EllipticCurvePrivateKey,
    signer: EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    draft = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    for extension, critical in _extensions(authority=issuer is None):
        draft = draft.add_extension(extension, critical=critical)
    return draft.sign(signer, hashes.SHA256())


def _extensions(*, authority: bool) -> list[tuple[Any, bool]]:
    """The extensions that strict verifiers require in the certificates of a CA and of a server."""
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )
    common = [(x509.BasicConstraints(ca=authority, path_length=None), True), (usage, True)]
    if authority:
        return common
    addresses = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    purposes = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    return [*common, (x509.SubjectAlternativeName(addresses), False), (purposes, False)]
