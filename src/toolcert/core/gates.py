"""Gates: the figures and findings that the user rules out before a run, and that decide the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolcert.core.errors import UsageError
from toolcert.core.findings import FindingKind, Severity
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.spelling import did_you_mean
from toolcert.core.values import Value


class Gate(Value):
    """One figure and the least it may be."""

    name: str
    least: float

    def missed_by(self, rate: Rate) -> str:
        """Why the rate does not meet this gate; empty where it does."""
        if rate.value is None:
            return f"{self.name} could not be judged: no answer counts for it."
        if rate.value < self.least:
            return f"{self.name} is {100 * rate.value:.2f} % ({rate}), below {100 * self.least:g} %."
        return ""


def parse_gates(text: str, names: Sequence[str]) -> tuple[Gate, ...]:
    """`schema=0.98,trigger=95%` as gates on figures with these names."""
    return tuple(_gate(part.strip(), names) for part in text.split(",") if part.strip())


def _gate(text: str, names: Sequence[str]) -> Gate:
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in names:
        remedy = f"{did_you_mean(name, names)} Use {', '.join(names)}, as in {names[0]}=0.98.".lstrip()
        raise UsageError(f"--fail-under knows no figure {name!r}.", remedy=remedy)
    try:
        least = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise UsageError(f"--fail-under {text}: not a share.", remedy="Write it as 0.98 or 98%.")
    return Gate(name=name, least=least)


def check_gate_codes(codes: Iterable[str], catalogue: Iterable[FindingKind], option: str = "--fail-on") -> None:
    """Refuse a gate that could never close: a code or severity that does not exist."""
    severities = [severity.value for severity in Severity]
    asked = [code for code in codes if code not in severities]
    families = [kind.code for kind in catalogue] if asked else []  # the catalogue is loaded only for a code
    known = [*severities, *families]
    for code in asked:
        # A family's member, such as args.schema.required, has no entry of its own.
        if code not in known and not any(code.startswith(f"{family}.") for family in families):
            remedy = f"{did_you_mean(code, known)} `toolcert findings` lists them.".lstrip()
            raise UsageError(f"{option} {code}: no such finding or severity.", remedy=remedy)


def rules_out(gates: Iterable[str], code: str, severity: Severity) -> bool:
    """Whether a gate names this finding by its code, a family of codes, or its severity or a lesser one."""
    covered = [other.value for other in Severity if other.rank >= severity.rank]
    return any(gate in covered or gate == code or code.startswith(f"{gate}.") for gate in gates)
