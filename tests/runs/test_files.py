"""Files are replaced in one step; what is no file, or leads elsewhere, is respected."""

import errno
import os
import stat
import sys
from pathlib import Path
from threading import Thread

import pytest

from toolcert.core.errors import OutputError
from toolcert.runs.files import check_writable, open_descriptor, output_errors, write_whole

NEW = b"new content\n"
OPEN_FILES = Path("/proc/self/fd")
"""Nothing can be created, replaced or removed in it, whatever the code under test does."""
posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and modes of POSIX")
open_files = pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="names of open files as Linux has them")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_the_reader_of_a_named_pipe_gets_the_content_and_the_pipe_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, [b"new ", b"content\n"])
    reader.join(timeout=60)
    assert read == [NEW]
    assert pipe.is_fifo()


@posix
def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, Path(os.devnull).stat().st_rdev)
        null.open("wb").close()
    except PermissionError:
        pytest.skip("only an administrator can make a device")
    write_whole(null, [NEW])
    assert null.is_char_device()


@open_files
def test_the_pipe_of_a_shell_is_written_to() -> None:
    """`>(command)` of a shell is a name like /dev/fd/63."""
    reading, writing = os.pipe()
    write_whole(OPEN_FILES / str(writing), [NEW])
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == NEW


@open_files
def test_a_link_to_a_pipe_leads_there(tmp_path: Path) -> None:
    """The pipe has no name of its own that a link could be resolved to."""
    reading, writing = os.pipe()
    link = tmp_path / "link"
    link.symlink_to(OPEN_FILES / str(writing))
    write_whole(link, [NEW])
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == NEW
    assert link.is_symlink()


@open_files
def test_an_open_file_is_written_on_where_it_stands(tmp_path: Path) -> None:
    """What others wrote through the same descriptor, a log that standard error goes to, is not cut off."""
    with (tmp_path / "log").open("wb", buffering=0) as log:
        log.write(b"before\n")
        write_whole(OPEN_FILES / str(log.fileno()), [NEW])
        log.write(b"after\n")
    assert (tmp_path / "log").read_bytes() == b"before\n" + NEW + b"after\n"


@pytest.mark.parametrize(
    ("name", "descriptor"),
    [("/dev/stdout", 1), ("/dev/stderr", 2), ("/dev/fd/63", 63), ("/dev/null", None), ("stdout", None)],
)
def test_names_of_what_is_open_already(name: str, descriptor: int | None) -> None:
    """Asked by name alone: a test that wrote there could destroy a name of the system if the code were wrong."""
    assert open_descriptor(Path(name)) == descriptor


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path, exists: bool) -> None:
    target, link = tmp_path / "elsewhere" / "target.json", tmp_path / "link.json"
    if exists:
        target.parent.mkdir()
        target.write_bytes(b"old")
    link.symlink_to(Path("elsewhere", "target.json"))
    write_whole(link, [NEW])
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert [path.name for path in target.parent.iterdir()] == ["target.json"]


@posix
@pytest.mark.parametrize("private", [0o600, 0o640, 0o664])
def test_a_file_keeps_its_mode(tmp_path: Path, private: int) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(b"old")
    path.chmod(private)
    write_whole(path, [NEW])
    assert path.read_bytes() == NEW
    assert mode(path) == private


@posix
def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "report.json", [NEW])
    finally:
        os.umask(old)
    assert mode(tmp_path / "report.json") == 0o640


def test_what_fails_midway_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(b"old")

    def broken() -> "list[bytes]":
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OutputError, match="No space left"):
        write_whole(path, (chunk for _ in range(2) for chunk in broken()))
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("report.json", b"old")]


def test_a_folder_in_the_way_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=f"cannot write {tmp_path}.*irectory"):
        write_whole(tmp_path, [NEW])


@posix
def test_links_that_lead_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OutputError, match="cannot write"):
        write_whole(tmp_path / "a", [NEW])


@pytest.mark.parametrize("place", ["new.json", "deep/er/new.json", "old.json"])
def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path: Path, place: str) -> None:
    (tmp_path / "old.json").write_bytes(b"old")
    check_writable(tmp_path / place)
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("old.json", b"old")]


@open_files
@pytest.mark.parametrize("place", [".", "file/report.json", "/proc/report.json"])
def test_a_place_that_cannot_be_written_is_known_before(tmp_path: Path, place: str) -> None:
    """A folder, a file where a folder should be, and a file system that takes no files even from an administrator."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="cannot write"):
        check_writable(tmp_path / place)


@pytest.mark.parametrize(("number", "space"), [(errno.ENOSPC, True), (errno.EACCES, False), (errno.ENOENT, False)])
def test_space_is_the_remedy_only_where_there_is_none(number: int, space: bool) -> None:
    with pytest.raises(OutputError) as caught, output_errors(Path("report.json")):
        raise OSError(number, os.strerror(number))
    assert ("space" in caught.value.remedy) is space
