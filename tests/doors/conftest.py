"""What the tests of the front doors share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcert.simulate.watsonx import WatsonxVendor

GRANITE = "ibm/granite-20b-instruct"
LLAMA = "meta-llama/llama-2-70b-chat"
SMALL = "ibm/granite-3-2b-instruct"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def watsonx() -> Iterator[WatsonxVendor]:
    """watsonx.ai by TLS, with the models that the text names."""
    models = {GRANITE: "faithful", LLAMA: "never-reads-results", SMALL: "faithful", "ibm/textual": "text-caller"}
    others = {"ibm/slate-embedding": ("embedding",)}
    with WatsonxVendor(models=models, others=others) as vendor:
        yield vendor


@pytest.fixture
def reachable(watsonx: WatsonxVendor, monkeypatch: pytest.MonkeyPatch) -> WatsonxVendor:
    """The environment says where the simulated watsonx.ai is and whom to trust; keys are left to the test."""
    watsonx.requests.clear()
    watsonx.restore()
    monkeypatch.setenv("WATSONX_URL", watsonx.url)
    monkeypatch.setenv("WATSONX_IAM_URL", watsonx.iam_url)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", watsonx.ca_bundle)
    return watsonx


@pytest.fixture
def known(reachable: WatsonxVendor, monkeypatch: pytest.MonkeyPatch) -> WatsonxVendor:
    """Credentials are in the environment too."""
    monkeypatch.setenv("WATSONX_APIKEY", reachable.api_key)
    monkeypatch.setenv("WATSONX_PROJECT_ID", reachable.project_id)
    return reachable
