"""Secrets that cannot be printed by accident, and the eraser that removes them from text however they are written."""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from toolcert.core.text.lazy_pattern import lazy_pattern

_URL_SAFE = str.maketrans("+/", "-_")
_PLAIN_RUN = lazy_pattern("[A-Za-z0-9]+")
_RAREST_FIRST = "QZXJKVWYGUHBPFLMDNRCOITSAEqzjxkvwyg9876543210bpuhfmdlcrnoatsie"
"""How seldom letters are in English inside JSON, roughly."""
_PARTS = lazy_pattern(r"\\+|[^\\]")
"""A row of backslashes, or any other character."""
_ANY_BACKSLASHES = r"\\*+"
"""JSON inside JSON doubles them with every level. Never given back once taken: a row of them is gone through once."""
_ALL_BEFORE = r"(?:(?<!\\)\\++)?+"
"""Before a secret the row is taken whole: half an escape left behind would make the JSON around it invalid."""
_PAIRS_BEHIND = r"(?:\\\\)*+"
"""Behind a secret that ends in backslashes, for the same reason: an odd one belongs to what follows."""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class SecretForms:
    """What one secret looks like in an answer: as it is, or as one of its disguises."""

    def __init__(self, value: str) -> None:
        self.value = value
        runs = _PLAIN_RUN.findall(value)
        self._anchor = max(runs, key=len, default="").encode()
        """A part of the secret that stands as it is wherever no letter or digit of it is written as a code."""
        # Numbers, here and below: to look for bytes of length one with `in` takes several times as long.
        self._letters = tuple(map(ord, sorted({*"".join(runs)}, key=_rarest_first)))
        pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
        self._seams = tuple(_seam(pair) for pair in sorted(pairs, key=_rarest_first))

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The secret with each of its characters in any form."""
        parts = _PARTS.findall(self.value)
        forms = [_any_form(part, first=at == 0, last=at == len(parts) - 1) for at, part in enumerate(parts)]
        return re.compile(_bytes("".join(forms)))

    @cached_property
    def _codes(self) -> tuple[tuple[int, re.Pattern[bytes]], ...]:
        """How a code of any kind begins, and the codes of the letters and digits that the secret has."""
        numbers = sorted({*self._anchor})
        as_hex, as_decimal = ("|".join(form.format(number) for number in numbers) for form in ("{:02x}", "{}"))
        # Searched for by their first byte, which is the fastest search there is: hence the groups behind it.
        kinds = {
            "\\": rf"\\(?=u00(?i:{as_hex}))",
            "&": rf"&(?=#(?i:0*(?:{as_decimal})|x0*(?:{as_hex}))(?![0-9a-fA-F]))",
            "%": rf"%(?=(?:25)*(?i:{as_hex}))",
        }
        return tuple((ord(start), re.compile(pattern.encode())) for start, pattern in kinds.items())

    def may_be_in(self, data: bytes) -> bool:
        """Whether the pattern can match at all; a quick test."""
        return data.find(self._anchor) >= 0 or self.has_codes_in(data)

    def has_codes_in(self, data: bytes) -> bool:
        """Whether a letter or digit of the secret is written as a code, which hides it from a plain search."""
        for start, codes in self._codes:  # noqa: SIM110 - runs for every answer, and any() costs several times this
            if start in data and codes.search(data):
                return True
        return False

    def may_be_in_pieces(self, stream: bytes) -> bool:
        """Whether a stream has all letters of the secret, and neighbours side by side or where texts end and begin."""
        for letter in self._letters:
            if letter not in stream:
                return False
        return all(pair in stream or (start in stream and end in stream) for pair, start, end in self._seams)


_SHORTEST_DISGUISED = 8
"""Characters; the disguises of a shorter secret occur by chance."""


class _Disguise(NamedTuple):
    """A secret spelt in other characters."""

    rarest: int
    """The letter of it that most answers lack: a search for one byte takes no time and usually decides."""
    value: bytes
    forms: SecretForms | None
    """How it is looked for in pieces; None for hexadecimal numbers, whose letters every answer has."""


def _disguise(text: str) -> _Disguise:
    rarest = min("".join(_PLAIN_RUN.findall(text)) or text, key=_rarest_first)
    forms = SecretForms(text) if {*text.lower()} - {*"0123456789abcdef"} else None
    return _Disguise(_bytes(rarest)[0], _bytes(text), forms)


def _disguises(value: str) -> list[str]:
    """The secret reversed, in hexadecimal, and in base64 at any of the three places where its first byte can fall."""
    if len(value) < _SHORTEST_DISGUISED:
        return []
    data = _bytes(value)
    found = [value[::-1], data.hex(), data.hex().upper()]
    for before in range(3):
        # A character of base64 holds six bits: those that hold bits of a neighbour are left out at both ends.
        signs = b2a_base64(bytes(before) + data, newline=False).decode()
        whole = signs[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
        found += [whole, whole.translate(_URL_SAFE)]
    return list(dict.fromkeys(found))


def _rarest_first(text: str) -> list[int]:
    """Sorts what most answers lack to the front: the search for all of it ends with the first that is missing."""
    return sorted(map(_RAREST_FIRST.find, text))


def _seam(pair: str) -> tuple[bytes, bytes, bytes]:
    """Two letters together, and as they stand where a text ends between them."""
    return pair.encode(), f'"{pair[1]}'.encode(), f'{pair[0]}"'.encode()


def _any_form(part: str, *, first: bool, last: bool) -> str:
    """A pattern for one part of a secret."""
    if part.startswith("\\"):
        return (r"(?<!\\)" if first else "") + _row(len(part), _PAIRS_BEHIND if last else _ANY_BACKSLASHES)
    return f"{_ALL_BEFORE if first else _ANY_BACKSLASHES}(?:{'|'.join([re.escape(part), *_coded(part)])})"


def _row(length: int, rest: str) -> str:
    """A pattern for backslashes: at least as many, or some of them written as codes."""
    code = "|".join(_coded("\\"))
    return rf"(?:(?=\\{{{length}}}){rest}|(?:\\*+(?:{code})){{1,{length}}}+{rest})"


def _coded(character: str) -> list[str]:
    """Patterns for one character: its number (without the backslash), its code in a page, and that in an address."""
    number = character.encode("utf-16-be", "surrogatepass").hex()
    units = _ANY_BACKSLASHES.join(f"u{number[at : at + 4]}" for at in range(0, len(number), 4))
    encoded = "".join(f"%(?:25)*{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
    forms = [
        f"(?i:{units})",
        f"&#(?i:0*{ord(character)}|x0*{ord(character):x})(?:;|(?![0-9a-fA-F]))",
        f"(?i:{encoded})",
    ]
    from html import escape  # seldom needed, and slow to load

    return forms if escape(character) == character else [*forms, re.escape(escape(character))]


HIDDEN = "[secret]"
_HIDDEN = HIDDEN.encode()
_SHORTEST_ERASED = 6
"""Erasing a shorter value would tear harmless text apart ("x" is a common dummy key)."""
_PLACEHOLDERS = frozenset({"ollama", "lm-studio", "openai", "litellm", "api-key", "api_key", "password", "secret"})
"""Given where a server wants any key at all; erased, they would tear names such as `ollama/llama3` apart."""
_PROTOCOL = (
    "arguments assistant boolean chat.completion.chunk choices completion_tokens_details content_filter created "
    "description developer finish_reason function_call functions integer logprobs max_completion_tokens messages "
    "model_name number object organization owned_by parallel_tool_calls parameters prompt_tokens_details properties "
    "reasoning_content refusal required response_format service_tier stream_options string system_fingerprint "
    "temperature tool_calls tool_choice total_tokens"
)
"""Words that answers are made of: without one of them, or a part of it, a good answer would be judged a broken one."""
_PARAMETER = lazy_pattern(r"(?<=[?&])([^=&#]*)=([^&#]*)")
_SECRET_NAME = lazy_pattern(
    r"(?:^|[-_.])(?:auth|authori[sz]ation|authentication|bearer|cookie2?|credentials?|jwt|pass|passphrase|pwd|sig"
    r"|signature|(?:access|api|auth|client|function|license|private|secret|shared|subscription)?[-_]?key)[-_]?\d*$"
    r"|(?:password|passwd|passcode|secret|token)$",
    re.IGNORECASE,
)
_SECRET_PARAMETERS = frozenset({"code", "sas", "ticket", "x-amz-credential"})
"""`code` carries the key of an Azure function."""


class Secret:
    """A key or token whose value shows only through `reveal()`."""

    __slots__ = ("_value", "source")

    def __init__(self, value: str, *, source: str) -> None:
        self._value = value
        self.source = source

    def reveal(self) -> str:
        """The value itself, for the request header and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret(from {self.source})"

    def __str__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Secret is never serialised; resolve it again from its source")


def names_secret(name: str) -> bool:
    """Whether a header of this name usually carries a secret."""
    return _SECRET_NAME.search(name) is not None


def parameter_names_secret(name: str) -> bool:
    """Whether a query parameter of this name usually carries a secret."""
    return names_secret(name) or name.lower() in _SECRET_PARAMETERS


def without_password(address: str) -> str:
    """A URL without the secrets it may carry, in front of the host or among its parameters; other text unchanged."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    # The last @ ends the credentials: a password may hold unescaped signs, and hiding too much does no harm.
    credentials, at, place = rest.rpartition("@")
    user, colon, _ = credentials.partition(":")
    shown = f"{scheme}://{user}{':' + HIDDEN if colon else ''}{at}{place}"
    return _PARAMETER.sub(_without_value, shown)


def _without_value(parameter: re.Match[str]) -> str:
    return f"{parameter[1]}={HIDDEN}" if parameter_names_secret(parameter[1]) else parameter[0]


def passwords_in(address: str) -> list[str]:
    """The passwords and keys a URL carries, as written and as meant."""
    rest = address.partition("://")[2]
    written = [part.rpartition("@")[0].partition(":")[2] for part in (rest, rest.partition("?")[0])]
    written += [found[2] for found in _PARAMETER.finditer(rest) if parameter_names_secret(found[1])]
    return list(dict.fromkeys(form for text in written if text for form in (text, unquote(text))))


def _is_placeholder(value: str) -> bool:
    """Whether the value protects nothing, while erasing it would change what answers say."""
    return len(value) < _SHORTEST_ERASED or value.lower() in _PLACEHOLDERS or value.lower() in _PROTOCOL


class Eraser:
    """Replaces known secret values in whatever is about to be kept or shown."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._traces: list[SecretForms] = []
        self._disguises: list[_Disguise] = []
        for secret in secrets:
            self.add(secret)

    def add(self, secret: Secret) -> None:
        """Erase this secret from now on; some tokens are known only after the start."""
        value = secret.reveal()
        known = {traces.value for traces in self._traces}
        if _is_placeholder(value) or value in known:
            return
        # The longest first: a secret that begins with another must not leave its end behind.
        self._traces = sorted([*self._traces, SecretForms(value)], key=lambda traces: len(traces.value), reverse=True)
        self._disguises += map(_disguise, _disguises(value))

    def may_be_in_pieces(self, payload: bytes) -> bool:
        """Whether an answer's texts, put together, could give a secret: a quick look."""
        for traces in self._traces:
            if traces.may_be_in_pieces(payload) or traces.has_codes_in(payload):
                return True
        return any(one.forms.may_be_in_pieces(payload) for one in self._disguises if one.forms is not None)

    def spans(self, data: bytes) -> list[tuple[int, int]]:
        """Where secrets are in `data`, in order and without overlaps."""
        patterns = [traces.pattern for traces in self._traces]
        patterns += [re.compile(re.escape(one.value)) for one in self._disguises if one.value in data]
        found = sorted(match.span() for pattern in patterns for match in pattern.finditer(data))
        apart: list[tuple[int, int]] = []
        for start, end in found:
            if apart and start < apart[-1][1]:
                apart[-1] = apart[-1][0], max(end, apart[-1][1])
            else:
                apart.append((start, end))
        return apart

    def text(self, text: str) -> str:
        """`text` without any known secret."""
        data = _bytes(text)
        erased = self.bytes(data)
        return text if erased is data else erased.decode("utf-8", "surrogatepass")

    def bytes(self, data: bytes) -> bytes:
        """`data` without any known secret; vendors do echo keys in their errors."""
        for traces in self._traces:
            if traces.may_be_in(data):
                erased, count = traces.pattern.subn(_HIDDEN, data)
                data = erased if count else data
        for rarest, disguise, _ in self._disguises:
            if rarest in data and disguise in data:
                data = data.replace(disguise, _HIDDEN)
        return data
