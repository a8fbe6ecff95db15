"""JUnit XML as GitHub, GitLab and Jenkins read it: a suite per model, a case per probe."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from xml.etree import ElementTree as ET

from toolcert.probes.scorecard import Cell, CellState, ModelSummary, ProbeSummary
from toolcert.reports.labels import label_of

# Characters XML 1.0 cannot hold in any form; a reader would refuse the whole file.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS = {"failure": "failed", "error": "not measured"}


class NotMeasuredAs(StrEnum):
    """How a case that could not be measured counts in CI."""

    ERROR = "error"
    SKIPPED = "skipped"


def probe_junit(summary: ProbeSummary, *, not_measured: NotMeasuredAs = NotMeasuredAs.ERROR) -> bytes:
    """The report of a probe run."""
    root = ET.Element("testsuites", name="toolcert")
    for model in summary.models:
        root.append(_suite(summary, model, not_measured))
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(summary: ProbeSummary, model: ModelSummary, not_measured: NotMeasuredAs) -> ET.Element:
    label = _clean(label_of(summary, model))
    began = datetime.fromtimestamp(summary.started_at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    cases = [_case(label, cell, summary.threshold, not_measured) for cell in model.cells]
    suite = ET.Element("testsuite", name=label, timestamp=began)
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    suite.extend(cases)
    return suite


def _case(label: str, cell: Cell, threshold: float, not_measured: NotMeasuredAs) -> ET.Element:
    seconds = sum(latency.p50 or 0.0 for latency in cell.latency)
    case = ET.Element("testcase", classname=f"{label}.{cell.group}", name=cell.probe, time=f"{seconds:.3f}")
    tag = _tag(cell, threshold, not_measured)
    if tag:
        message = f"{cell.rate} {cell.reason}" if cell.rate.n else cell.reason or cell.state.value
        problem = ET.SubElement(case, tag, message=_clean(message))
        if tag != "skipped":
            problem.set("type", _WORDS[tag])
            problem.text = _clean(_evidence(cell))
    return case


def _tag(cell: Cell, threshold: float, not_measured: NotMeasuredAs) -> str:
    """A flaky cell fails below the threshold, the same rule as everywhere."""
    if cell.state is CellState.NOT_MEASURED:
        return not_measured.value
    if cell.state in (CellState.UNSUPPORTED, CellState.SKIPPED):
        return "skipped"
    reliable = cell.rate.value is not None and cell.rate.value >= threshold
    return "" if reliable else "failure"


def _evidence(cell: Cell) -> str:
    lines = [cell.reason]
    lines += [f"{found.severity.value} {found.code}: {found.example.evidence}" for found in cell.findings]
    return "\n".join(line for line in lines if line)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
