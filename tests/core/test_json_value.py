"""When two JSON values are equal."""

import pytest

from toolcert.core.text.json_value import same_value


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([1.0, {"a": 2}], [1, {"a": 2.0}], True),
        ([True], [1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ("1", 1, False),
        (None, False, False),
        (0.1, 0.10, True),
    ],
)
def test_numbers_are_equal_by_value_and_true_is_no_number(first: object, second: object, equal: bool) -> None:
    assert same_value(first, second) is equal
