"""Gates: the figures and findings that the user rules out before a run, and that decide the exit code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from toolcert.core.errors import UsageError
from toolcert.core.findings import FindingKind, Severity
from toolcert.core.statistics.quantiles import Timings
from toolcert.core.statistics.rates import Rate
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.text.spelling import did_you_mean
from toolcert.core.values import Value
from toolcert.core.verdict import Word, is_allowed


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


_MEASURES = {"": "call", "ttft_": "first_token", "tps_": "tokens_per_second"}
"""The beginning of a limit's name, and the measure it is about."""
LIMIT_NAMES = tuple(f"{start}p{share}" for start in _MEASURES for share in (50, 95, 99))
_LIMIT = lazy_pattern(r"(?P<name>[a-z_]*?p\d+)\s*(?P<sign>[<>=])\s*(?P<bound>[\d.]+)\s*(?P<unit>\w*)", re.ASCII)
_UNITS = {"": 1.0, "s": 1.0, "ms": 0.001}


class Limit(Value):
    """A percentile of a time and what it must stay below, or of the tokens per second and what they must exceed."""

    name: str
    """`p95` of a whole call, `ttft_p95` of the first token, `tps_p50` of the tokens per second."""
    bound: float

    def missed_by(self, timings: Timings) -> str:
        """Why the timings do not meet this limit; empty where they do. What was not measured does not meet it."""
        start, _, share = self.name.rpartition("p")
        measured = getattr(timings, _MEASURES[start])
        value: float | None = getattr(measured, f"p{share}")
        if value is None:
            return f"{self.name} could not be judged: nothing was measured for it."
        if start == "tps_":
            kept, said = value > self.bound, f"{value:.3g} tokens/s ({measured.n} answers), not above {self.bound:g}"
        else:
            kept, said = value < self.bound, f"{value:.3g} s ({measured.n} answers), not below {self.bound:g} s"
        return "" if kept else f"{self.name} is {said}."


def parse_limits(text: str) -> tuple[tuple[Limit, ...], str]:
    """`schema=0.98,p95<2s` as limits on percentiles, and the rest of the text, which names other figures."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    timed = [part for part in parts if "<" in part or ">" in part or part.partition("=")[0].strip() in LIMIT_NAMES]
    return tuple(map(_limit, timed)), ",".join(part for part in parts if part not in timed)


def _limit(text: str) -> Limit:
    name = re.split("[<>=]", text)[0].strip()
    if name not in LIMIT_NAMES:
        remedy = f"{did_you_mean(name, LIMIT_NAMES)} Use {', '.join(LIMIT_NAMES)}, as in p95<2s.".lstrip()
        raise UsageError(f"--fail-under knows no percentile {name!r}.", remedy=remedy)
    speed = name.startswith("tps_")
    example = f"{name}>20" if speed else f"{name}<2s or {name}<800ms"
    found = _LIMIT.fullmatch(text)
    if found is None or found["sign"] == ("<" if speed else ">") or (found["unit"] not in ([""] if speed else _UNITS)):
        raise UsageError(f"--fail-under {text}: not a limit.", remedy=f"Write it as {example}.")
    try:
        bound = float(found["bound"]) * _UNITS[found["unit"]]
    except ValueError:
        raise UsageError(f"--fail-under {text}: not a number.", remedy=f"Write it as {example}.") from None
    return Limit(name=name, bound=bound)


def parse_gates(text: str, names: Sequence[str]) -> tuple[Gate, ...]:
    """`schema=0.98,trigger=95%` as gates on figures with these names."""
    return tuple(_gate(part.strip(), names) for part in text.split(",") if part.strip())


def _gate(text: str, names: Sequence[str]) -> Gate:
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in names:
        close = did_you_mean(name, [*names, *LIMIT_NAMES])
        remedy = f"{close} Use {', '.join(names)}, as in {names[0]}=0.98, or a limit such as p95<2s.".lstrip()
        raise UsageError(f"--fail-under knows no figure {name!r}.", remedy=remedy)
    try:
        least = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise UsageError(f"--fail-under {text}: not a share.", remedy="Write it as 0.98 or 98%.")
    return Gate(name=name, least=least)


def check_gate_codes(
    codes: Iterable[str], catalogue: Iterable[FindingKind], option: str = "--fail-on", probes: Sequence[str] = ()
) -> None:
    """Refuse a gate that could never close: a code or severity that does not exist. `probes` may be named as well."""
    severities = [*(severity.value for severity in Severity), *probes]
    asked = [code for code in codes if code not in severities]
    families = [kind.code for kind in catalogue] if asked else []  # the catalogue is loaded only for a code
    known = [*severities, *families]
    for code in asked:
        # A family's member, such as args.schema.required, has no entry of its own.
        if code not in known and not any(code.startswith(f"{family}.") for family in families):
            remedy = f"{did_you_mean(code, known)} `toolcert findings` lists them.".lstrip()
            what = "finding, severity or probe of this run" if probes else "finding or severity"
            raise UsageError(f"{option} {code}: no such {what}.", remedy=remedy)


def rules_out(gates: Iterable[str], code: str, severity: Severity) -> bool:
    """Whether a gate names this finding by its code, a family of codes, or its severity or a lesser one."""
    covered = [other.value for other in Severity if other.rank >= severity.rank]
    return any(gate in covered or gate == code or code.startswith(f"{gate}.") for gate in gates)


class Gates(Value):
    """What the user requires of a run before its exit code may be 0."""

    fail_under: float | None = None
    """Probe: points of 100; a verdict other than `passes` or `certified` keeps the gate closed, whatever the points."""
    figures: tuple[Gate, ...] = ()
    """Verify: rates by name; an error that they do not count keeps the gate closed where it is frequent."""
    limits: tuple[Limit, ...] = ()
    """On times and speeds; in probe on those of every model that was asked."""
    fail_on: tuple[str, ...] = ()
    require: Word | None = None
    allow: tuple[str, ...] = ()
    """Findings that are allowed; in probe also probes."""

    def __bool__(self) -> bool:
        return bool(self.fail_under is not None or self.figures or self.limits or self.fail_on or self.require)

    def rule_out(self, code: str, severity: Severity, count: int, known: int) -> bool:
        """Whether a finding closes a gate: one that is named, not allowed, and not known in all `count` cases."""
        stands = is_allowed(code, self.allow) or 0 < count == known
        return rules_out(self.fail_on, code, severity) and not stands


def score_and_limits(text: str) -> tuple[float | None, tuple[Limit, ...]]:
    """`90,p95<2s` as the least score and the limits on times and speeds."""
    limits, rest = parse_limits(text)
    try:
        score = float(rest) if rest else None
    except ValueError:
        score = -1.0
    if score is not None and not 0 <= score <= 100:
        raise UsageError(
            f"--fail-under {rest}: probe gates on a score, times and speeds.", remedy="Write it as 90, or 90,p95<2s."
        )
    return score, limits
