"""No answer to judge: one note that says why, and nothing about the model."""

from __future__ import annotations

import pytest

from diagnose.answers import asked, said
from toolcert.core.exchanges import Attempt, Exchange, Fault, FaultKind
from toolcert.core.findings import Severity
from toolcert.diagnose import examine


def failed(kind: FaultKind, attempts: int = 1, status: int | None = None) -> Exchange:
    fault = Fault(kind=kind, message="it broke", status=status)
    tries = tuple(Attempt(number=number, started_at=0.0) for number in range(1, attempts + 1))
    return Exchange(request=asked(tool_choice="required"), fault=fault, attempts=tries)


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind is not FaultKind.UNSUPPORTED])
def test_every_kind_of_fault_has_its_note(kind: FaultKind) -> None:
    (finding,) = examine(failed(kind), None)
    assert (finding.code, finding.severity) == (f"transport.{kind.value}", Severity.NOTE)


def test_a_capability_that_the_server_says_it_lacks_is_no_transport_fault() -> None:
    assert examine(failed(FaultKind.UNSUPPORTED), None) == ()


def test_evidence_tells_status_and_attempts() -> None:
    (finding,) = examine(failed(FaultKind.SERVER_ERROR, attempts=3, status=503), None)
    assert finding.evidence == "HTTP 503: it broke (after 3 attempts)"


def test_a_broken_stream_is_not_judged_by_what_arrived() -> None:
    """A reset inside a stream is transport; what came before it proves nothing."""
    (finding,) = examine(failed(FaultKind.RESET), said("Sun", finish_reason=None, streamed=True, complete=False))
    assert finding.code == "transport.reset"
