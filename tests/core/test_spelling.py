"""Suggestions for misspelt names."""

from toolcert.core.text.spelling import did_you_mean, question

KNOWN = ("litellm", "openai", "watsonx")


def test_a_misspelt_name_gets_a_suggestion() -> None:
    assert did_you_mean("litelm", KNOWN) == "Did you mean litellm?"


def test_a_name_like_no_other_gets_none() -> None:
    assert did_you_mean("zzz", KNOWN) == ""


def test_several_names_are_offered_as_alternatives() -> None:
    assert question(["a", "b"]) == "Did you mean a or b?"
