"""Runs in an object store, as the viewer shows them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.verify_samples import write_verify_run
from stores.conftest import door, s3_port  # noqa: F401 - fixtures
from support.patience import until
from support.s3_server import BUCKET, Door
from toolcert.core.errors import InputError
from toolcert.stores.object_store import ObjectStore
from toolcert.stores.object_url import parse_url
from toolcert.view.viewer import Viewer
from view.conftest import Client

pytestmark = pytest.mark.heavy


def copied(run: Path, url: str) -> str:
    """A run folder copied to the store as it is."""
    store = ObjectStore(parse_url(url))
    for name in ("manifest.json", "records.jsonl"):
        store.write(name, (run / name).read_bytes())
    return url


@pytest.mark.usefixtures("door")
def test_the_runs_below_an_address_are_listed_and_opened(viewed: Callable[..., Viewer], small_run: Path) -> None:
    url = f"s3://{BUCKET}/view/{secrets.token_hex(4)}"
    copied(small_run, f"{url}/one")
    client = Client(viewed(url)).let_in()
    [run] = client.ask("/api/runs").json["runs"]
    assert run["folder"] == f"{url}/one"
    assert client.ask(f"/api/runs/{run['run']}/case?key=row-2").status in (200, 404)
    answer = client.post(f"/api/runs/{run['run']}/marks", {"case": "row-2", "kind": "known"})
    assert answer.status == 400
    assert "object store" in answer.json["error"]


@pytest.mark.usefixtures("door")
def test_a_run_that_comes_later_appears(
    viewed: Callable[..., Viewer], small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcert.view.library.ASK_STORE_SECONDS", 0.2)
    url = f"s3://{BUCKET}/view/{secrets.token_hex(4)}"
    copied(small_run, f"{url}/one")
    client = Client(viewed(url)).let_in()
    copied(write_verify_run(tmp_path / "two", rows=5), f"{url}/two")
    until(lambda: len(client.ask("/api/runs").json["runs"]) == 2, "the second run appears")


def test_an_address_without_runs_is_refused(door: Door) -> None:  # noqa: F811 - the fixture
    with pytest.raises(InputError, match="there is no run"):
        Viewer(f"s3://{BUCKET}/nothing/{secrets.token_hex(4)}")
