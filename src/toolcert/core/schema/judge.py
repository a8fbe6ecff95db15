"""Validates a call's arguments against its tool's schema, and says whether client-side coercion would mend them.

Violations are values (keyword and path), never exceptions. Nothing here changes what is judged.
"""

from __future__ import annotations

import copy
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import Any

import msgspec

from toolcert.core.schema.cost import MANY_ERRORS, SchemaCost
from toolcert.core.text.json_text import MAX_DEPTH, NotJson, nested_deeper_than, parse_json
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value

_ROUNDS = 4
"""Decoding a value can uncover a next layer of errors; real calls need one or two rounds."""
_INTEGER = lazy_pattern(r"[+-]?\d{1,40}")
_NUMBER = lazy_pattern(r"[+-]?(\d{1,40}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_NOTHING = object()


class Coerced(Value):
    """What coercion achieves."""

    valid: bool
    """Everything the schema asks for would be met."""
    decoded: tuple[tuple[str | int, ...], ...] = ()
    """Where JSON was found inside a string although an object or array is wanted."""


class Misfit(Value):
    """A value of the wrong type: where it is and what is wanted there."""

    path: tuple[str | int, ...]
    types: tuple[str, ...] = ()
    options: tuple[Any, ...] = ()


def coerce(value: Any, misfits: list[Misfit] | None, look_again: Callable[[Any], list[Misfit] | None]) -> Coerced:
    """Coerce misfits until none is left or nothing more can be done; None for misfits means "valid"."""
    value = copy.deepcopy(value)
    decoded: list[tuple[str | int, ...]] = []
    for _ in range(_ROUNDS):
        if not misfits:
            break
        changed = False
        for misfit in misfits:
            old = _value_at(value, misfit.path)
            new = next(_candidates(old, misfit), _NOTHING)
            if new is _NOTHING:
                continue
            if isinstance(old, str) and isinstance(new, dict | list):
                decoded.append(misfit.path)
            value = _replaced(value, misfit.path, new)
            changed = True
        if not changed:
            break
        misfits = look_again(value)
    return Coerced(valid=misfits is None, decoded=tuple(decoded))


def _candidates(value: Any, misfit: Misfit) -> Iterator[Any]:
    for option in misfit.options:
        if (
            not isinstance(value, dict | list)
            and type(option) is not type(value)
            and _as_text(option) == _as_text(value)
        ):
            yield option
    if isinstance(value, str):
        yield from _from_text(value, misfit.types)
    elif isinstance(value, bool | int | float) and "string" in misfit.types:
        yield _as_text(value)
    elif "boolean" in misfit.types and value in (0, 1) and not isinstance(value, bool | list | dict):
        yield bool(value)


def _from_text(text: str, types: Iterable[str]) -> Iterator[Any]:
    word = text.strip()
    if "integer" in types and _INTEGER.fullmatch(word):
        yield int(word)
    if "number" in types and _NUMBER.fullmatch(word):
        yield float(word)
    if "boolean" in types and word.lower() in ("true", "false"):
        yield word.lower() == "true"
    if "null" in types and word in ("null", "None"):
        yield None
    if word[:1] in ("{", "["):
        yield from _decoded(word, types)


def _decoded(text: str, types: Iterable[str]) -> Iterator[Any]:
    try:
        value = parse_json(text)
    except NotJson:
        return
    if ("object" if isinstance(value, dict) else "array") in types:
        yield value


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _value_at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):  # an earlier replacement moved it; the next round looks again
            return None
    return value


def _replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    _value_at(value, path[:-1])[path[-1]] = new
    return value


_MAX_VIOLATIONS = 25
"""Enough to explain a fault; a hostile answer could break one schema a million times."""
_MAX_MESSAGE = 300
_SUBSCHEMA_KEYWORDS = frozenset(
    (
        *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
        *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"),
        *("not", "if", "then", "else", "dependentSchemas"),
    )
)
_CANNOT_JUDGE = ("BacktrackLimitExceeded", "RegexEngineFailure")
_UNKNOWN_DRAFT = "Unknown meta-schema"
_TOO_COMPLEX = "judging a value against this schema could take more than a million steps"
_TOO_LARGE = "judging arguments of this size takes more than a million steps"
_TOO_MANY_REASONS = "they break the schema, and are too large to say where"
_ORDINARY_LENGTH = 100_000
"""Characters of arguments that a schema of any use can judge."""
_ORDINARY_DEPTH = 64
_MOST_BACKTRACKS = 100_000
_LARGEST_PATTERN = 1 << 20
"""Bytes of a compiled pattern: a repeat within a repeat can need gigabytes and minutes."""
_LARGEST_PATTERNS = 1 << 28
"""The same for all patterns of a schema together."""
_LONGEST_PLAIN = 100_000
"""Bytes of a schema that takes few steps, because no part of it is gone through twice."""
_PATTERN_REFUSED = lazy_pattern(r'"(.*)" is not a "regex"', re.DOTALL)


class Bucket(StrEnum):
    """Why a call is not simply valid."""

    INVALID_JSON = "InvalidJson"
    SCHEMA_MISMATCH = "SchemaMismatch"
    DOUBLE_ENCODED = "DoubleEncoded"
    """JSON inside a string where the schema wants an object or array."""
    NOT_STRING = "NotString"
    """An object where the protocol wants JSON text."""
    EMPTY = "Empty"
    """Nothing given; fine (a warning) where the tool requires nothing."""
    BAD_SCHEMA = "BadSchema"
    """The tool's own schema is broken: the dataset's fault, nothing is judged."""
    TOO_COMPLEX = "TooComplex"
    """Judging would take more steps than we allow: the dataset's fault, nothing is judged."""
    TOO_LARGE = "TooLarge"
    """The same where only the size of the arguments makes it so: the vendor's fault, and they count as invalid."""


class Violation(Value):
    """One keyword of the schema that the arguments break."""

    keyword: str
    path: str
    """JSON pointer into the arguments; empty for the whole."""
    message: str


class Judgement(Value):
    """What the schema says about one call's arguments."""

    ok: bool | None
    """None when it cannot be judged, because the schema itself is broken."""
    bucket: Bucket | None = None
    violations: tuple[Violation, ...] = ()
    coercible: bool = False
    """Whether the usual client-side coercion ("5" to 5, decoding a JSON string) would make it valid."""
    arguments: Any = None
    """The arguments as parsed, where they parse."""
    message: str = ""
    """What is wrong, in one line, where no violation says it."""
    double_encoded: tuple[str, ...] = ()
    """JSON pointers to values that are JSON inside a string."""


class Validator:
    """A compiled schema, or the reason why there is none."""

    __slots__ = ("_compiled", "_cost", "bucket", "fault")

    def __init__(
        self, compiled: Any, fault: str = "", *, bucket: Bucket = Bucket.BAD_SCHEMA, cost: SchemaCost | None = None
    ) -> None:
        """`cost` is what says which values take too long; without it none does."""
        self._compiled = compiled
        self._cost = cost
        self.fault = fault
        self.bucket = bucket

    def judge(self, arguments: Any) -> Judgement:
        """Judge the `arguments` of a call exactly as the server wrote them."""
        if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
            return self._judge_empty()
        if not isinstance(arguments, str):
            return self._judge_object(arguments)
        try:
            value = parse_json(arguments)
        except NotJson as reason:
            return Judgement(ok=False, bucket=Bucket.INVALID_JSON, message=str(reason))
        return self._judge_value(value, arguments)

    def _judge_value(self, value: Any, text: str) -> Judgement:
        if self._compiled is None:
            return self._unjudged(value)
        if self._cost is not None and not self._cost.affords(value, len(text)):
            if len(text) > _ORDINARY_LENGTH or nested_deeper_than(_ORDINARY_DEPTH, text):
                return Judgement(ok=False, bucket=Bucket.TOO_LARGE, arguments=value, message=_TOO_LARGE)
            return Judgement(ok=None, bucket=Bucket.TOO_COMPLEX, arguments=value, message=_TOO_COMPLEX)
        if self._compiled.is_valid(value):
            return Judgement(ok=True, arguments=value)
        return self._judge_empty() if value is None else self._judge_mismatch(value, len(text))

    def _judge_empty(self) -> Judgement:
        if self._compiled is None:
            return self._unjudged(None)
        errors = self._errors({}, self._most_errors({}, 2))
        if not errors:
            return Judgement(ok=True, bucket=Bucket.EMPTY, arguments={})
        return Judgement(ok=False, bucket=Bucket.EMPTY, violations=_violations(errors), message="no arguments given")

    def _judge_object(self, value: Any) -> Judgement:
        """Arguments that are not a string break the protocol, whatever the schema says."""
        message = f"arguments are {type(value).__name__}, not a JSON string"
        try:
            text = msgspec.json.encode(value).decode()
            value = parse_json(text)
        except (NotJson, TypeError, ValueError, RecursionError):
            return Judgement(ok=False, bucket=Bucket.NOT_STRING, message=message)
        judged = self._compiled is not None and (self._cost is None or self._cost.affords(value, len(text)))
        most = self._most_errors(value, len(text)) if judged else 0
        errors = self._errors(value, most) if most else []
        return Judgement(
            ok=False,
            bucket=Bucket.NOT_STRING,
            violations=_violations(errors),
            coercible=self._mend(value, errors, most, len(text)).valid if errors else most > 0,
            arguments=value,
            message=message,
        )

    def _judge_mismatch(self, value: Any, length: int) -> Judgement:
        most = self._most_errors(value, length)
        if not most:
            return Judgement(ok=False, bucket=Bucket.TOO_LARGE, arguments=value, message=_TOO_MANY_REASONS)
        errors = self._errors(value, most)
        for error in errors:
            if type(error.kind).__name__.endswith(_CANNOT_JUDGE):
                message = f"a pattern of the schema cannot be evaluated: {error.message[:_MAX_MESSAGE]}"
                return Judgement(ok=None, bucket=Bucket.BAD_SCHEMA, arguments=value, message=message)
        mended = self._mend(value, errors, most, length)
        return Judgement(
            ok=False,
            bucket=Bucket.DOUBLE_ENCODED if mended.decoded else Bucket.SCHEMA_MISMATCH,
            violations=_violations(errors),
            coercible=mended.valid,
            arguments=value,
            double_encoded=tuple(_pointer(path) for path in mended.decoded),
        )

    def _unjudged(self, value: Any) -> Judgement:
        return Judgement(ok=None, bucket=self.bucket, arguments=value, message=self.fault)

    def _most_errors(self, value: Any, length: int) -> int:
        return MANY_ERRORS if self._cost is None else self._cost.most_errors(value, length)

    def _errors(self, value: Any, most: int) -> list[Any]:
        """What is wrong; one more than `most` where there is more, unless only the first is wanted."""
        if most > 1:
            return list(islice(self._compiled.iter_errors(value), most + 1))
        try:
            self._compiled.validate(value)
        except ValueError as error:
            return [error]
        return []

    def _mend(self, value: Any, errors: list[Any], most: int, length: int) -> Coerced:
        if len(errors) > most or most <= 1:
            return Coerced(valid=False)
        return coerce(value, _misfits(errors), lambda now: _misfits(self._errors(now, self._most_errors(now, length))))


class SchemaJudge:
    """Judges calls, compiling each schema once and keeping the most recently used."""

    def __init__(self, max_schemas: int = 1024) -> None:
        self._max_schemas = max_schemas
        self._validators: OrderedDict[bytes, Validator] = OrderedDict()

    def judge(self, parameters: Any, arguments: Any) -> Judgement:
        """Judge `arguments` against a tool's `parameters`; absent or empty parameters accept any JSON."""
        return self.compile(parameters).judge(arguments)

    def compile(self, parameters: Any) -> Validator:
        """The validator of a schema; a broken one gives a validator that says so."""
        try:
            text = msgspec.json.encode(parameters)
        except (TypeError, ValueError, RecursionError) as error:
            return Validator(None, f"the schema is not JSON: {error}")
        key = hashlib.blake2b(text, digest_size=16).digest()
        validator = self._validators.get(key)
        if validator is None:
            validator = _too_deep(text) or _compile(parameters)
            self._validators[key] = validator
            if len(self._validators) > self._max_schemas:
                self._validators.popitem(last=False)
        else:
            self._validators.move_to_end(key)
        return validator

    def fault(self, parameters: Any) -> tuple[Bucket, str] | None:
        """Why a schema cannot be used, if it cannot; one that surely can is compiled only when a call needs it."""
        if _is_surely_sound(parameters):
            return None
        validator = self.compile(parameters)
        return (validator.bucket, validator.fault) if validator.fault else None

    def __len__(self) -> int:
        return len(self._validators)


_SIGNS_OF_MORE = (b'"$', b"attern", b'"unevaluated')
"""Schemas with references, patterns or a draft of their own can be valid and still not compile, or take too long."""


def _is_surely_sound(parameters: Any) -> bool:
    """Whether the meta-schema alone shows that a schema can be used: that takes a fifth of the time of compiling."""
    if not isinstance(parameters, dict):
        return False
    from jsonschema_rs import meta

    try:
        text = msgspec.json.encode(parameters)
        plain = len(text) <= _LONGEST_PLAIN and not any(sign in text for sign in _SIGNS_OF_MORE)
        return plain and not nested_deeper_than(MAX_DEPTH, text) and meta.is_valid(parameters)
    except (TypeError, ValueError, RecursionError):
        return False


def _too_deep(text: bytes) -> Validator | None:
    if nested_deeper_than(MAX_DEPTH, text):
        return Validator(None, f"the schema is nested deeper than {MAX_DEPTH} levels")
    return None


class _AnyJson:
    """Absent or empty parameters: everything fits, and no library has to be loaded to say so."""

    def is_valid(self, value: Any) -> bool:  # noqa: ARG002 - the interface of compiled schemas
        return True

    def iter_errors(self, value: Any) -> Iterator[Any]:  # noqa: ARG002
        return iter(())


def _compile(parameters: Any) -> Validator:
    schema = {} if parameters is None else parameters
    if schema == {}:
        return Validator(_AnyJson())
    if not isinstance(schema, dict | bool):
        return Validator(None, f"the schema is {type(schema).__name__}, not an object")
    cost = SchemaCost(schema)
    if cost.too_complex:
        return Validator(None, _TOO_COMPLEX, bucket=Bucket.TOO_COMPLEX)
    return _compile_affordable(schema, cost)


def _compile_affordable(schema: Any, cost: SchemaCost) -> Validator:
    from jsonschema_rs import FancyRegexOptions, validator_for

    patterns = None
    if cost.has_patterns:  # making options takes a third of the time of compiling
        largest = min(_LARGEST_PATTERN, _LARGEST_PATTERNS // max(cost.large_in_patterns, 1))
        patterns = FancyRegexOptions(backtrack_limit=_MOST_BACKTRACKS, size_limit=largest, dfa_size_limit=largest)
    try:
        return Validator(
            validator_for(schema, validate_formats=False, offline=True, pattern_options=patterns), cost=cost
        )
    except ValueError as error:
        reason = str(getattr(error, "message", error))
    if (broken := _PATTERN_REFUSED.match(reason)) and _is_pattern(broken[1]):
        return Validator(None, f"a pattern is too large: {broken[1][:80]}", bucket=Bucket.TOO_COMPLEX)
    if reason.startswith(_UNKNOWN_DRAFT) and isinstance(schema, dict):
        return _compile({keyword: value for keyword, value in schema.items() if keyword != "$schema"})
    return Validator(None, reason[:_MAX_MESSAGE])


def _is_pattern(text: str) -> bool:
    """Whether a pattern that was refused is well-formed, so that only its size can be the reason."""
    try:
        re.compile(text.encode().decode("unicode_escape"))
    except (re.error, ValueError, OverflowError, RecursionError):
        return False
    return True


def _violations(errors: list[Any]) -> tuple[Violation, ...]:
    return tuple(
        Violation(keyword=_keyword(error), path=_pointer(error.instance_path), message=error.message[:_MAX_MESSAGE])
        for error in errors[:_MAX_VIOLATIONS]
    )


def _misfits(errors: list[Any]) -> list[Misfit] | None:
    return [misfit for error in errors for misfit in _wanted(error)] if errors else None


def _keyword(error: Any) -> str:
    """The keyword that was broken; a `false` subschema is named after the keyword that holds it."""
    name = str(error.kind.name)
    if name == "required" and error.schema_path[-1:] == ["dependentRequired"]:
        return "dependentRequired"  # the library calls both by one name
    if name != "falseSchema":
        return name
    return next((str(step) for step in reversed(error.schema_path) if step in _SUBSCHEMA_KEYWORDS), name)


def _wanted(error: Any) -> list[Misfit]:
    """Which types or values would have been accepted where `error` points."""
    path = tuple(error.instance_path)
    types: list[str] = list(getattr(error.kind, "types", ()))
    options: list[Any] = list(getattr(error.kind, "options", ()))
    if hasattr(error.kind, "expected_value"):
        options.append(error.kind.expected_value)
    for branch in getattr(error.kind, "context", ()):
        for inner in branch:
            if tuple(inner.instance_path) == path:
                types.extend(getattr(inner.kind, "types", ()))
    return [Misfit(path=path, types=tuple(types), options=tuple(options))] if types or options else []


def _pointer(path: Any) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
