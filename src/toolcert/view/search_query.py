"""What people type to find cases, `outcome:failed finding:args.schema latency>2 paris`, as SQL over the index."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from toolcert.core.errors import UsageError
from toolcert.core.values import Value

LABELS = ("outcome", "finding", "tool", "tag", "model", "endpoint", "probe", "finish")
"""Fields with words: a case has some of them, and every word is counted."""
FAMILIES = frozenset({"finding"})
"""In these fields a word also matches all words that continue it with a dot."""
NUMBERS = {
    "latency": "seconds",
    "first_token": "first_token",
    "tokens": "tokens_out",
    "tokens_in": "tokens_in",
    "attempts": "attempts",
    "row": "place",
}
"""Fields with numbers, and their columns."""
ORDERS = {
    "place": "place",
    "latency": "seconds",
    "first_token": "first_token",
    "tokens": "tokens_out",
    "tokens_in": "tokens_in",
    "attempts": "attempts",
    "time": "at",
    "outcome": "outcome",
    "model": "model",
}
MARK, CASE = "mark", "case"
MOST = 2000
"""Characters of a query."""
_TERM = re.compile(
    r"""(?P<no>-)?(?:(?P<field>[a-z_]+)(?P<sign>:|>=|<=|>|<|=))?(?:"(?P<quoted>(?:[^"\\]|\\.)*)"?|(?P<bare>\S+))"""
)
_LINE_ENDS = {"n": "\n", "r": "\r"}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_IDEOGRAPH = re.compile("[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]")


class Term(Value):
    """One word of a query."""

    text: str
    field: str = ""
    """Empty for a word that is searched in the text."""
    sign: str = ":"
    negated: bool = False


class Condition(Value):
    """SQL with its values; the rows of the table `cases` are meant."""

    sql: str = "1"
    values: tuple[str | int | float, ...] = ()


def terms_of(query: str) -> tuple[Term, ...]:
    """The words of a query."""
    if len(query) > MOST:
        raise UsageError(f"the query has {len(query)} characters.", remedy=f"Use at most {MOST}.")
    return tuple(_terms(query))


def _terms(query: str) -> Iterator[Term]:
    for found in _TERM.finditer(query):
        field, sign = found["field"] or "", found["sign"] or ":"
        quoted = found["quoted"]
        text = found["bare"] if quoted is None else _ESCAPED.sub(lambda one: _LINE_ENDS.get(one[1], one[1]), quoted)
        if field in (*LABELS, *NUMBERS, MARK, CASE):
            yield Term(text=text, field=field, sign=sign, negated=bool(found["no"]))
        elif text:
            # `http://x` and `a:b` are words like others.
            whole = f"{field}{sign}{text}" if field else text
            yield Term(text=whole, negated=bool(found["no"]) and quoted is None and not field)


def condition_of(terms: Iterable[Term], marked: dict[str, frozenset[str]] | None = None) -> Condition:
    """Values of one field are alternatives; fields, words and negations must all hold."""
    parts: list[Condition] = []
    alternatives: dict[str, list[Condition]] = defaultdict(list)
    for term in terms:
        made = _condition(term, marked or {})
        if term.negated:
            parts.append(Condition(sql=f"NOT ({made.sql})", values=made.values))
        elif term.field in LABELS or term.field in (MARK, CASE) or (term.field in NUMBERS and term.sign in ":="):
            alternatives[term.field].append(made)
        else:
            parts.append(made)
    return _joined([*parts, *(_joined(group, " OR ") for group in alternatives.values())], " AND ")


def _joined(parts: list[Condition], word: str) -> Condition:
    if not parts:
        return Condition()
    sql = word.join(f"({part.sql})" for part in parts)
    return Condition(sql=sql, values=tuple(value for part in parts for value in part.values))


def _condition(term: Term, marked: dict[str, frozenset[str]]) -> Condition:
    if not term.field:
        return Condition(sql="id IN (SELECT rowid FROM texts WHERE texts MATCH ?)", values=(phrase(term.text),))
    if term.field == CASE:
        return Condition(sql="key = ?", values=(term.text,))
    if term.field == MARK:
        kinds = marked.values() if term.text in ("any", "") else [marked.get(term.text, frozenset())]
        keys = tuple(sorted({key for kind in kinds for key in kind}))
        return Condition(sql=f"key IN ({', '.join('?' * len(keys))})", values=keys)
    if term.field in NUMBERS:
        return _number(term)
    family = term.field in FAMILIES
    match = "value = ? OR value GLOB ?" if family else "value = ?"
    values = (term.text, f"{_no_glob(term.text)}.*") if family else (term.text,)
    sql = f"id IN (SELECT case_id FROM labels WHERE label IN (SELECT id FROM words WHERE kind = ? AND ({match})))"  # noqa: S608 - words of our own
    return Condition(sql=sql, values=(LABELS.index(term.field), *values))


def _number(term: Term) -> Condition:
    text = term.text.removesuffix("ms") if (in_ms := term.text.endswith("ms")) else term.text.removesuffix("s")
    try:
        number = float(text)
    except ValueError:
        raise UsageError(
            f"{term.field}{term.sign}{term.text} names no number.", remedy=f"Write it as {term.field}>2."
        ) from None
    sign = "=" if term.sign == ":" else term.sign
    return Condition(sql=f"{NUMBERS[term.field]} {sign} ?", values=(number / 1000 if in_ms else number,))


def _no_glob(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def phrase(text: str) -> str:
    """A word for the full-text index: its parts one behind the other, the last of them as a beginning."""
    words = '"' + spaced(text).replace('"', '""').replace("\0", " ").strip() + '"'
    return f"{words} *" if re.search(r"\w", text) else '""'


def spaced(text: str) -> str:
    """`text` with each ideograph as a word of its own: languages without spaces can then be searched."""
    return text if text.isascii() else _IDEOGRAPH.sub(r" \g<0> ", text)
