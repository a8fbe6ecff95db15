"""The fault matrix: which model id causes which findings. Tested over real HTTP and printed in the docs."""

from __future__ import annotations

from toolcert.core.values import Value
from toolcert.simulate.faults import Mode, SeenBy, all_faults, find_fault
from toolcert.simulate.situations import A_SECOND_CALL, Situation

_OPTIONS = {
    "args.altered": ("lost", "question", "dropped"),
    "args.escaped": ("twice",),
    "args.key_duplicate": ("equal",),
    "call.duplicate": ("ids",),
    "call.in_text": (
        "hermes",
        "kimi",
        "mistral",
        "json",
        "harmony",
        "harmony_stripped",
        "deepseek",
        "stripped",
        "react",
        "invoke",
        "functionary",
        "python",
    ),
    "call.mangled_name": ("json", "channel", "number"),
    "call.in_reasoning": ("kimi", "mistral", "json"),
    "call.twice": ("mistral", "json"),
    "envelope.not_openai": ("html", "list", "choices"),
    "finish.filtered": ("named",),
    "finish.length_false": ("whole",),
    "finish.nonstandard": ("eos",),
    "reasoning.leaked": ("closing", "channels", "stripped"),
    "stream.framing": ("ids", "role", "bytes", "prefix"),
    "stream.order": ("pieces", "finish"),
    "stream.usage_nonstandard": ("choice",),
    "text.degenerate": ("marks", "unknown"),
    "text.special_tokens": ("llama", "mistral"),
    "transport.server_error": ("503",),
    "usage.arithmetic": ("cached",),
}
SHOWN_ELSEWHERE = {
    "args.too_large": "its test has answers of hundreds of kilobytes",
    "stream.unasked": "its test has a server that answers every request with a stream",
    "dataset.bad_schema": "the dataset's fault: no vendor can bring it about",
    "dataset.duplicate": "the dataset's fault: no vendor can bring it about",
    "dataset.duplicate_tool": "the dataset's fault: no vendor can bring it about",
    "dataset.no_messages": "the dataset's fault: no vendor can bring it about",
    "dataset.not_json": "the dataset's fault: no vendor can bring it about",
    "dataset.not_object": "the dataset's fault: no vendor can bring it about",
    "dataset.not_rendered": "the dataset's fault: no vendor can bring it about",
    "dataset.schema_too_complex": "the dataset's fault: no vendor can bring it about",
    "dataset.wrong_type": "the dataset's fault: no vendor can bring it about",
    "internal.error": "a bug of ours: no vendor is to blame",
    "transport.configuration": "our own settings: nothing is sent",
    "transport.connect": "there is no vendor to answer",
    "transport.rejected": "what every faithful vendor says to a malformed request",
    "transport.tls": "the simulated vendor speaks plain HTTP",
    "transport.unknown_model": "what every faithful vendor says to an unknown model",
    "transport.lost_with_worker": "its test ends the workers of a cluster",
}
"""Findings that no model id can cause, with the reason."""


class Variant(Value):
    """Another form of the same fault."""

    code: str
    option: str
    situation: Situation
    modes: tuple[Mode, ...]

    @property
    def model(self) -> str:
        """The model id that switches this fault on."""
        return f"fault:{self.code}:{self.option}"


class Row(Value):
    """One row of the matrix."""

    switch: str
    """The model id that switches the fault on."""
    about: str
    findings: tuple[str, ...]
    """The code of the fault first, then the findings that are folded under it."""
    reasons: dict[str, str]
    """Why each folded finding follows from it."""
    seen_by: str
    modes: tuple[Mode, ...]
    probe_alone: str = ""
    """Why verify only warns of it; empty if its verdict is on the same side as that of probe."""


def matrix() -> tuple[Row, ...]:
    """All rows, by code."""
    return tuple(
        Row(
            switch=fault.model,
            about=fault.about,
            findings=(fault.code, *sorted(fault.companions)),
            reasons=fault.companions,
            seen_by=_seen_by(fault.seen_by, fault.probe),
            modes=fault.modes,
            probe_alone=fault.probe_alone,
        )
        for fault in all_faults()
    )


_SEEN_BY = {SeenBy.EXCHANGE: "one answer", SeenBy.COMPARISON: "a comparison", SeenBy.LOAD: "a load run"}


def _seen_by(seen_by: SeenBy, probe: str | None) -> str:
    if seen_by is SeenBy.PROBE:
        return f"probe {probe}"
    return _SEEN_BY[seen_by]


def _variants() -> tuple[Variant, ...]:
    found = []
    for code, options in _OPTIONS.items():
        fault = find_fault(code)
        assert fault is not None, code
        found += [Variant(code=code, option=option, situation=fault.situation, modes=fault.modes) for option in options]
    turns = Variant(code="call.id_duplicate", option="turns", situation=A_SECOND_CALL, modes=tuple(Mode))
    return (*found, turns)


VARIANTS = _variants()
"""Other forms of faults that have several."""
