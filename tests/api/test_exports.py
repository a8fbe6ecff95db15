"""What `import toolcert` offers."""

import subprocess
import sys
from pathlib import Path

import pytest

import toolcert


def test_every_exported_name_exists_and_is_sorted() -> None:
    """`__all__` is true: each name loads, and none is missing from it."""
    for name in toolcert.__all__:
        assert getattr(toolcert, name) is not None
    assert sorted(toolcert.__all__) == toolcert.__all__
    assert set(toolcert._HOMES) | {"__version__"} == set(toolcert.__all__)


def test_no_exported_name_is_hidden_by_a_room() -> None:
    """Importing toolcert.compare would set the attribute `compare` of the package; the function would be gone."""
    rooms = {path.stem for path in Path(toolcert.__file__).parent.iterdir()}
    assert not rooms & set(toolcert.__all__)


def test_functions_and_commands_have_one_name() -> None:
    from toolcert.cli.main import COMMANDS

    assert {"probe", "verify", "compare", "report", "models"} <= set(toolcert.__all__) & set(COMMANDS)


@pytest.mark.parametrize(
    ("former", "now"),
    [("compare_runs", "compare"), ("verify_dataset", "verify"), ("verify_dataset_async", "verify_async")],
)
def test_former_names_still_work_and_say_what_they_are_called_now(former: str, now: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"toolcert.{former} is now toolcert.{now}"):
        assert getattr(toolcert, former) is getattr(toolcert, now)
    assert former not in dir(toolcert)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(toolcert, "nothing_of_this_name")


def test_importing_toolcert_loads_no_library() -> None:
    """The front page of the library is free; what a name needs is loaded with the name."""
    heavy = "('aiohttp', 'msgspec', 'jsonschema_rs', 'scipy', 'rich')"
    code = f"import sys, toolcert; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
