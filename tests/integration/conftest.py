"""A private certificate authority for the tests of TLS, proxies and CA bundles; a module names its server in HOST."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "company-ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


@pytest.fixture(scope="module")
def tls(authority: trustme.CA, request: pytest.FixtureRequest) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(request.module.HOST).configure_cert(context)
    return context
