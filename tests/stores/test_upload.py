"""The writer of a folder at a URL: parts, lease, takeover, fencing, and readers beside it. Over a real S3 server."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.patience import until
from support.s3_server import Door
from toolcert.core.errors import InputError, OutputError, ToolcertWarning
from toolcert.stores import lease as leases
from toolcert.stores import upload as uploads
from toolcert.stores.lease import LEASE, Lease, read_lease
from toolcert.stores.mirror import fetch, mirror
from toolcert.stores.object_store import ObjectStore
from toolcert.stores.object_url import parse_url
from toolcert.stores.upload import Upload

pytestmark = pytest.mark.needs("s3")
LOG = "log.jsonl"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds become tenths."""
    monkeypatch.setattr(uploads, "UPLOAD_SECONDS", 0.1)
    for module in (uploads, leases):
        monkeypatch.setattr(module, "BEAT_SECONDS", 0.2)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Go on as another machine, which has a cache of its own."""

    def go_to(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    return go_to


def begin(url: str, lines: bytes = b"", **settings: float) -> Upload:
    upload = Upload(url, LOG, **settings)
    upload.start()
    append(upload, lines)
    return upload


def append(upload: Upload, lines: bytes) -> None:
    with (upload.folder / LOG).open("ab") as file:
        file.write(lines)


def read(url: str) -> bytes:
    log = mirror(url, LOG) / LOG
    return log.read_bytes() if log.exists() else b""


def age(url: str, seconds: float = 60) -> None:
    """Let the lease at a URL be as old as that of a writer that died a minute ago."""
    store = ObjectStore(parse_url(url))
    found = read_lease(store)
    assert found is not None
    lease = msgspec.structs.replace(found[0], beat=time.time() - seconds)
    store.write(LEASE, msgspec.json.encode(lease))


def die(upload: Upload) -> None:
    """End the threads of a writer as SIGKILL would: nothing more is sent or released."""
    upload._error = RuntimeError("dead")
    upload._done.set()
    upload._send_rest = lambda: None  # type: ignore[method-assign]
    upload._send = lambda **_: None  # type: ignore[method-assign]
    upload._lock.close()


def lease_at(url: str) -> Lease:
    found = read_lease(ObjectStore(parse_url(url)))
    assert found is not None
    return found[0]


def test_what_is_written_is_in_the_store_at_the_end(url: str, machine: Callable[[str], None]) -> None:
    upload = begin(url, b"one\ntwo\n")
    (upload.folder / "manifest.json").write_text("{}")
    (upload.folder / "below").mkdir()
    (upload.folder / "below/example.json").write_text("[]")
    upload.finish()
    machine("elsewhere")
    assert read(url) == b"one\ntwo\n"
    there = mirror(url, LOG)
    assert (there / "manifest.json").read_text() == "{}"
    assert (there / "below/example.json").read_text() == "[]"
    assert lease_at(url).released


def test_readers_see_whole_lines_while_it_grows(url: str, machine: Callable[[str], None]) -> None:
    upload = begin(url, b"one\ntw")
    machine("elsewhere")
    until(lambda: read(url) == b"one\n")
    append(upload, b"o\nthree\n")
    until(lambda: read(url) == b"one\ntwo\nthree\n")
    upload.finish()


def test_a_second_writer_is_refused_and_told_who_writes(url: str, machine: Callable[[str], None]) -> None:
    first = begin(url)
    with pytest.raises(OutputError, match="on this machine is writing to"):
        Upload(url, LOG).start()
    machine("elsewhere")
    with pytest.raises(OutputError, match=rf"process \d+ on .* is writing to {url}") as refused:
        Upload(url, LOG).start()
    assert "its lease ends in" in refused.value.remedy
    append(first, b"one\n")
    first.finish()
    assert read(url) == b"one\n"


def test_of_writers_that_start_at_once_one_wins(url: str, machine: Callable[[str], None]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    ObjectStore(parse_url(url)).check()

    def try_to_begin(number: int) -> Upload | None:
        upload = Upload(url, LOG)
        upload.folder = upload.folder.with_name(f"machine-{number}")
        with contextlib.suppress(OutputError):
            upload.start()
            return upload
        return None

    with ThreadPoolExecutor(8) as pool:
        winners = [upload for upload in pool.map(try_to_begin, range(8)) if upload is not None]
    assert len(winners) == 1
    winners[0].finish()


def test_a_lease_that_is_not_renewed_is_taken_over_and_the_zombie_is_fenced(
    url: str, machine: Callable[[str], None]
) -> None:
    zombie = begin(url, b"one\n")
    until(lambda: zombie._log.content.size == 4)
    with zombie._lease._one_at_a_time:  # its heart stands still, as that of a machine that sleeps
        age(url)
        machine("elsewhere")
        heir = begin(url)
        append(zombie, b"zombie\n")
        append(heir, b"heir\n")
        until(lambda: zombie._log.content.size == 11)
    until(lambda: zombie._error)
    with pytest.raises(OutputError, match="another toolcert has taken over"):
        zombie.check()
    sent = zombie._log.number
    append(zombie, b"more\n")
    time.sleep(0.5)
    assert zombie._log.number == sent, "it writes no more"
    with pytest.raises(OutputError, match="another toolcert has taken over"):
        zombie.finish()
    heir.finish()
    machine("third")
    assert read(url) == b"one\nheir\n"


def test_a_lease_that_only_looks_old_is_not_taken(url: str, machine: Callable[[str], None]) -> None:
    """The clock of the other machine goes wrong; its heart beats."""
    first = begin(url, b"one\n")
    beat = first._lease.renew

    def beat_with_a_wrong_clock() -> None:
        beat()
        first._lease._tag = ObjectStore(parse_url(url)).write(
            LEASE, msgspec.json.encode(msgspec.structs.replace(first._lease._lease, beat=time.time() - 600))
        )

    first._lease.renew = beat_with_a_wrong_clock  # type: ignore[method-assign,assignment]
    until(lambda: lease_at(url).beat < time.time() - 500)
    machine("elsewhere")
    with pytest.raises(OutputError, match="is writing to"):
        Upload(url, LOG).start()
    first._lease.renew = beat  # type: ignore[method-assign]
    first.finish()


def test_a_lease_of_tomorrow_whose_holder_is_silent_is_taken_over(url: str, machine: Callable[[str], None]) -> None:
    first = begin(url, b"one\n")
    until(lambda: first._log.content.size == 4)
    die(first)
    age(url, -86_400)
    machine("elsewhere")
    begin(url, b"two\n").finish()
    assert read(url) == b"one\ntwo\n"


def test_a_writer_that_died_here_is_continued_at_once_with_what_it_had_not_sent(url: str) -> None:
    first = begin(url, b"one\n")
    until(lambda: first._log.content.size == 4)
    die(first)
    append(first, b"two\n")
    second = begin(url, b"three\n")
    second.finish()
    assert read(url) == b"one\ntwo\nthree\n"


def test_elsewhere_a_dead_writer_is_continued_with_what_it_had_sent(url: str, machine: Callable[[str], None]) -> None:
    first = begin(url, b"one\n")
    until(lambda: first._log.content.size == 4)
    die(first)
    append(first, b"two\n")
    age(url)
    machine("elsewhere")
    begin(url, b"three\n").finish()
    machine("cache")
    assert read(url) == b"one\nthree\n"
    begin(url, b"four\n").finish()
    assert read(url) == b"one\nthree\nfour\n"


def test_a_log_that_is_replaced_is_sent_anew_and_never_seen_by_halves(url: str, machine: Callable[[str], None]) -> None:
    upload = begin(url, b"one\ntwo\n")
    until(lambda: upload._log.content.size == 8)
    machine("elsewhere")
    seen = {read(url)}
    draft = upload.folder / ".draft"
    draft.write_bytes(b"1: one\n2: two\n3: three\n")
    draft.replace(upload.folder / LOG)
    until(lambda: seen.add(read(url)) or b"1: one\n2: two\n3: three\n" in seen)
    upload.finish()
    assert seen == {b"one\ntwo\n", b"1: one\n2: two\n3: three\n"}
    store = ObjectStore(parse_url(url))
    assert {stored.name.split("/")[0] for stored in store.entries("")} == {LEASE, lease_at(url).series[0].name}


def test_a_finished_log_of_many_parts_becomes_one_of_few(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_MANY_PARTS", 3)
    monkeypatch.setattr(uploads, "PART_BYTES", 4)
    upload = begin(url, b"".join(b"%03d\n" % number for number in range(50)))
    until(lambda: upload._log.number == 50)
    upload.finish()
    store = ObjectStore(parse_url(url))
    assert len(store.entries(f"{lease_at(url).series[0].name}/log")) == 1
    assert read(url).count(b"\n") == 50


@pytest.mark.parametrize("damage", ["torn", "gone"])
def test_a_part_that_is_torn_or_gone_ends_the_log_there_and_is_told(
    damage: str, url: str, machine: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "PART_BYTES", 4)
    begin(url, b"one\ntwo\nsix\n").finish()
    store = ObjectStore(parse_url(url))
    middle = store.entries(f"{lease_at(url).series[0].name}/log")[1].name
    if damage == "torn":
        store.write(middle, b"tw")
    else:
        store.delete([middle])
    machine("elsewhere")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert read(url) == b"one\n"
        begin(url, b"ten\n").finish()
        machine("third")
        assert read(url) == b"one\nten\n", "what follows the damage is asked again"
    assert (damage == "torn") == any("is damaged; 2 parts from it on are left out" in str(one.message) for one in told)


def test_a_store_out_of_reach_is_told_and_served_later(url: str, door: Door, machine: Callable[[str], None]) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ToolcertWarning)
        upload = begin(url, b"one\n")
        until(lambda: upload._log.content.size == 4)
        door.close()
        append(upload, b"two\n")
        until(lambda: upload._fault)
        upload.check()  # the run goes on
        door.open()
        until(lambda: upload._fault is None)
        upload.finish()
    machine("elsewhere")
    assert read(url) == b"one\ntwo\n"
    texts = [str(one.message) for one in told]
    assert any(f"does not answer. The run goes on in {upload.folder}" in text for text in texts)
    assert f"{url} answers again." in texts


@pytest.mark.filterwarnings("ignore::toolcert.core.errors.ToolcertWarning")
def test_a_store_that_never_comes_back_is_told_and_the_mirror_is_kept(
    url: str, door: Door, machine: Callable[[str], None]
) -> None:
    upload = begin(url, b"one\n", patience=0.5)
    door.close()
    append(upload, b"two\n")
    with pytest.raises(OutputError, match=rf"bytes of the run are not in {url}: http.* does not answer") as told:
        upload.finish()
    assert f"The whole run is in {upload.folder}; the same command on this machine uploads it." in told.value.remedy
    assert (upload.folder / LOG).read_bytes() == b"one\ntwo\n"
    with pytest.raises(InputError, match="cannot read"):
        read(url)
    door.open()
    begin(url).finish()
    machine("elsewhere")
    assert read(url) == b"one\ntwo\n"


@pytest.mark.filterwarnings("ignore::toolcert.core.errors.ToolcertWarning")
def test_the_wait_for_a_silent_store_can_be_ended(url: str, door: Door) -> None:
    upload = begin(url, b"one\n")
    door.close()
    upload.abandon()
    begun = time.monotonic()
    with pytest.raises(OutputError, match="bytes of the run are not in"):
        upload.finish()
    assert time.monotonic() - begun < 60


def test_a_place_where_nothing_was_written_stays_empty(url: str) -> None:
    begin(url).finish()
    assert [stored.name for stored in ObjectStore(parse_url(url)).entries("")] == []
    with pytest.raises(InputError, match="there is no run at"):
        mirror(url, LOG)


def test_a_run_that_was_deleted_in_the_store_is_not_brought_back(url: str) -> None:
    begin(url, b"one\n").finish()
    store = ObjectStore(parse_url(url))
    store.delete(stored.name for stored in store.entries(""))
    begin(url, b"two\n").finish()
    assert read(url) == b"two\n"


def test_a_folder_that_was_copied_as_it_is_can_be_read_and_continued(url: str, machine: Callable[[str], None]) -> None:
    store = ObjectStore(parse_url(url))
    store.write(LOG, b"one\n")
    store.write("manifest.json", b"{}")
    assert read(url) == b"one\n"
    begin(url, b"two\n").finish()
    machine("elsewhere")
    assert read(url) == b"one\ntwo\n"


def test_names_in_the_store_lead_nowhere_else(url: str, tmp_path: Path, machine: Callable[[str], None]) -> None:
    begin(url, b"one\n").finish()
    store, files = ObjectStore(parse_url(url)), f"{lease_at(url).series[0].name}/files"
    for name in (".holder", "a/.hidden", "c:x", "back\\slash", LOG):
        store.write(f"{files}/{name}", b"evil")
    machine("elsewhere")
    there = mirror(url, LOG)
    assert read(url) == b"one\n"
    assert not [path for path in there.rglob("*") if path.is_file() and path.read_bytes() == b"evil"]


def test_what_was_changed_here_beside_the_log_stays_until_the_store_has_something_newer(url: str) -> None:
    upload = begin(url, b"one\n")
    (upload.folder / "notes.jsonl").write_text("sent")
    upload.finish()
    there = mirror(url, LOG) / "notes.jsonl"
    there.write_text("changed here")
    mirror(url, LOG)
    assert there.read_text() == "changed here"


@pytest.mark.parametrize(
    "content",
    [
        b"\xff{",
        b"[" * 100_000,
        b'{"holder":"x","writer":"w","generation":1,"beat":0,"series":[]}',
        b'{"holder":"x","writer":"w","generation":1,"beat":0,"series":[{"name":"../../etc"}],"released":true}',
        b'{"holder":"x","writer":"w","generation":1,"beat":0,"series":[{"name":""}],"released":true}',
    ],
)
def test_a_damaged_lease_is_a_sentence(url: str, content: bytes) -> None:
    ObjectStore(parse_url(url)).write(LEASE, content)
    for act in (lambda: read(url), lambda: Upload(url, LOG).start()):
        with pytest.raises((InputError, OutputError), match=r"its lease\.json is damaged"):
            act()


def test_a_store_that_ignores_conditions_is_refused(url: str, door: Door) -> None:
    door.hides_conditions = True
    with pytest.raises(OutputError, match="ignores the conditions of a write"):
        Upload(url, LOG).start()
    assert ObjectStore(parse_url(url)).entries("") == []


def test_a_line_longer_than_a_part_is_sent_whole(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "PART_BYTES", 10)
    line = b"x" * 1001 + b"\n"
    begin(url, b"one\n" + line + b"two\n").finish()
    assert read(url) == b"one\n" + line + b"two\n"


def test_the_lease_is_renewed_while_a_long_log_is_fetched(
    url: str, machine: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(url, b"one\n").finish()
    beats: set[float] = set()

    def fetch_slowly(*given: Any, **named: Any) -> Any:
        until(lambda: beats.add(lease_at(url).beat) or len(beats) > 2, "the lease is renewed")
        return fetch(*given, **named)

    monkeypatch.setattr(uploads, "fetch", fetch_slowly)
    machine("elsewhere")
    begin(url).finish()
    assert len(beats) > 2


def test_what_was_noted_beside_a_run_outlives_the_run_in_the_store(url: str) -> None:
    begin(url, b"one\n").finish()
    notes = mirror(url, LOG) / "marks.jsonl"
    notes.write_text("mine")
    store = ObjectStore(parse_url(url))
    store.delete(stored.name for stored in store.entries(""))
    with pytest.raises(InputError, match="there is no run at"):
        mirror(url, LOG)
    assert not mirror(url, LOG, may_miss=True).exists()
    assert notes.read_text() == "mine"
