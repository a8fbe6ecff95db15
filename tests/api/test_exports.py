"""What `import toolcert` offers."""

import subprocess
import sys
from pathlib import Path

import toolcert


def test_every_exported_name_exists_and_is_sorted() -> None:
    """`__all__` is true: each name loads, and none is missing from it."""
    for name in toolcert.__all__:
        assert getattr(toolcert, name) is not None
    assert sorted(toolcert.__all__) == toolcert.__all__
    assert set(toolcert._HOMES) | {"__version__"} == set(toolcert.__all__)


def test_no_exported_name_is_hidden_by_a_room() -> None:
    """Importing toolcert.compare sets the attribute `compare` of the package; a function of that name would be gone."""
    rooms = {path.name for path in Path(toolcert.__file__).parent.iterdir() if path.is_dir()}
    assert not rooms & set(toolcert.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(toolcert, "nothing_of_this_name")


def test_importing_toolcert_loads_no_library() -> None:
    """The front page of the library is free; what a name needs is loaded with the name."""
    heavy = "('aiohttp', 'msgspec', 'jsonschema_rs', 'scipy', 'rich')"
    code = f"import sys, toolcert; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
