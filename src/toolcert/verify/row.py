"""What a row brings to its judgement besides the exchange; travels with the case."""

from __future__ import annotations

from typing import Any

import msgspec

from toolcert.core.cases import Case
from toolcert.core.findings import Finding
from toolcert.core.records import Record
from toolcert.core.values import Value
from toolcert.verify.expectations import Expected


class Row(Value):
    """A dataset row as it is asked of one target."""

    key: str
    endpoint: str
    model: str
    index: int
    content: str = ""
    sampling: str = ""
    tags: tuple[str, ...] = ()
    id: str | None = None
    expected: Any = None
    """As written in the dataset."""
    problems: tuple[Finding, ...] = ()
    """The dataset's own faults."""
    offered: tuple[str, ...] | None = None
    """Names of the offered tools where they are known already."""

    @property
    def expectation(self) -> Expected | None:
        return None if self.expected is None else msgspec.convert(self.expected, Expected)

    @classmethod
    def of_case(cls, case: Case) -> Row:
        """The row of a case that a plan made."""
        extra = case.extra
        problems = extra.get("problems", ())
        return cls(
            key=case.key,
            endpoint=case.endpoint,
            model=case.model,
            index=case.index or 0,
            content=extra.get("content", ""),
            sampling=extra.get("sampling", ""),
            tags=tuple(extra.get("tags", ())),
            id=extra.get("id"),
            expected=extra.get("expected"),
            problems=msgspec.convert(problems, tuple[Finding, ...]) if problems else (),
            offered=extra.get("offered"),
        )

    @classmethod
    def of_record(cls, record: Record, problems: tuple[Finding, ...]) -> Row:
        """The row behind an earlier record, to be judged again."""
        facts = record.row
        assert facts is not None
        return cls(
            key=record.case,
            endpoint=record.endpoint,
            model=record.model,
            index=facts.index,
            content=facts.content,
            sampling=facts.sampling,
            tags=facts.tags,
            id=facts.id,
            expected=record.detail.expected,
            problems=problems,
        )
