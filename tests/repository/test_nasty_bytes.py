"""Bytes that have broken readers break none of ours: each refuses with a sentence, or reads."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from support.nasty import TARGETS, bear, corpus, endless

CORPUS = corpus()


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CORPUS)
def test_every_reader_bears_the_corpus(target: str, name: str) -> None:
    bear(target, CORPUS[name])


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
def test_every_reader_bears_what_is_made_of_it(target: str) -> None:
    for data in islice(endless(target, random.Random(target)), 15):
        bear(target, data)
