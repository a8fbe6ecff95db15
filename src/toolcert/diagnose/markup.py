"""Calls that a model wrote and the server left in the text: a table of written forms, and when one counts.

A call counts only if it names an offered tool and has its arguments (or closes without any). Special tokens are never
prose. Tags and plain forms (JSON, Python, ReAct) also occur in tutorials, so they count only where nothing around them
says that they are an example, and only if the conversation did not itself teach the model to write that way.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from toolcert.core.requests import Request
from toolcert.core.text.json_text import NotJson, leading_json
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.judgement import is_unterminated, meant_tool, offered_tools
from toolcert.diagnose.request_facts import instructions, last_question


class Kind(Enum):
    """How much a written form proves by itself."""

    SPECIAL = "special tokens, which people do not type"
    TAG = "tags, which documentation quotes"
    PLAIN = "plain text, which tutorials and answers in JSON also contain"


class Form(NamedTuple):
    """One way in which models write a call."""

    name: str
    """The model families that write it."""
    kind: Kind
    pattern: str
    """A verbose regular expression from the opening mark to where the arguments begin; `NAME` is the tool's name."""
    example: str


class TextCall(NamedTuple):
    """Where in a text a call was found, and in which form."""

    start: int
    end: int
    form: str


_NAME = r"""["']?(?:functions?\.|default_api\.|tools\.)?(?P<name>[A-Za-z_][\w.\-]*)(?::\d+)?["']?"""
_SPECIAL = r"<[|｜]\ ?[\w▁:./\ -]{1,40}[|｜]?>"
_CALL_TAG = (
    r"<(?![|｜])[^<>\s]{0,30}(?:tool_?calls?|function_?calls?|tool_use|tool_code|execute_tool|action)[^<>\s]{0,24}>"
)

FORMS = (
    Form(
        "Harmony (gpt-oss)",
        Kind.SPECIAL,
        rf"\bto=\s*NAME (?:{_SPECIAL}|\s|json|code|commentary|analysis|response)* (?=\{{)",
        'assistantcommentary to=functions.get_weather json{"city": "Tokyo"}',
    ),
    Form(
        "Kimi K2, DeepSeek V3, Step 3, Solar, functionary, Inkling",
        Kind.SPECIAL,
        rf"{_SPECIAL} [\s\[]* (?:function\s*{_SPECIAL}\s*)? NAME \s* (?={_SPECIAL}|[\{{(]|```json|\Z)",
        '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Tokyo"}',
    ),
    Form(
        "JSON in tags or tokens, even where it is cut or loose",
        Kind.TAG,
        rf"""(?:{_SPECIAL}|{_CALL_TAG}|\[TOOL_CALLS\]|\bfunctools) [\s\[]* \{{ \s*
            ["'](?:name|tool_name|function)["'] \s*:\s* NAME (?!\s*,\s*"description")""",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Tok',
    ),
    Form(
        "Kimi K3",
        Kind.SPECIAL,
        r"""(?:<\|open\|>)? call\ tool="NAME"\ index="\d+" """,
        '<|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Tokyo',
    ),
    Form(
        "Mistral",
        Kind.SPECIAL,
        r"\[TOOL_CALLS\] \s* NAME \s* (?:\[CALL_ID\]\w*)? (?:\[ARGS\])? \s* (?=\{)",
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Tokyo"}',
    ),
    Form("Mistral, one token stripped", Kind.TAG, r"\bNAME \[ARGS\] \s* (?=\{)", 'get_weather[ARGS]{"city": "Tokyo"}'),
    Form(
        "Gemma 4, FunctionGemma",
        Kind.TAG,
        r"(?:<\|tool_call>|<start_function_call>|^)[ \t]* call:NAME \s* (?=\{)",
        "<|tool_call>call:get_weather{city:<|\"|>Tokyo<|\"|>}<tool_call|>",
    ),
    Form(
        "invoke: MiniMax, DeepSeek V3.2 and V4, GigaChat 3.5, Step 3, dots, MiniCPM 5",
        Kind.TAG,
        r"""<[^<>\n"]{0,24} \b(?:invoke|function|function_call|tool_call|tool_use|tool|call)
            \s+(?:[\w-]+="[^"<>\n]*"\s+){0,2} (?:name|tool|function)=["']NAME["'] [^<>\n/]{0,40}> \s* (?=[<\]{]|\Z)""",
        '<invoke name="get_weather"><parameter name="city">Tokyo</parameter></invoke>',
    ),
    Form(
        "Llama 3, Qwen Coder, MiMo, Seed, Step 3.5, Nemotron 3",
        Kind.TAG,
        r"<function=NAME> \s* (?=[\{<])",
        "<function=get_weather><parameter=city>Tokyo</parameter></function>",
    ),
    Form(
        "GLM, Hunyuan, LongCat, IQuest, K2 Horizon, OLMo 3",
        Kind.TAG,
        rf"{_CALL_TAG} [\s\[]* NAME \s* (?=[<\{{(])",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Tokyo</arg_value>\n</tool_call>",
    ),
    Form(
        "GLM, first tag stripped",
        Kind.TAG,
        r"\bNAME \s* <(?:\w*[|_])?arg_key>",
        "get_weather\n<arg_key>city</arg_key>\n<arg_value>Tokyo</arg_value>",
    ),
    Form(
        "name and arguments as elements: MiroThinker, MCP prompts",
        Kind.TAG,
        r"""<(?P<element>tool_?name|function_?name|name|function|tool)> \s*NAME\s* </(?P=element)>
            \s* <(?:arguments|parameters|params|args|input)\b""",
        "<use_mcp_tool><tool_name>get_weather</tool_name>\n<arguments>{\"city\": \"Tokyo\"}</arguments></use_mcp_tool>",
    ),
    Form(
        "ReAct",
        Kind.PLAIN,
        r"^[ \t*_]* Action:[ \t*_]* NAME [ \t*_]* (?:\n+ [ \t*_]* Action[ ]Input:|[\[(])",
        'Thought: I need the weather.\nAction: get_weather\nAction Input: {"city": "Tokyo"}',
    ),
    Form(
        "a labelled call",
        Kind.PLAIN,
        r"^ \[? (?:Tool|Function)[ _][Cc]all:\s* NAME \s* (?:\(|Arguments:)",
        '[Tool call: get_weather({"city": "Tokyo"})]',
    ),
    Form(
        "Qwen-Agent",
        Kind.SPECIAL,
        r"✿FUNCTION✿ \s*:\s* NAME \s+ ✿ARGS✿",
        '✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Tokyo"}',
    ),
    Form(
        "ChatGLM 3",
        Kind.PLAIN,
        r"^[ \t]* NAME \s* ```python \s* tool_call\(",
        "get_weather\n```python\ntool_call(city='Tokyo')\n```",
    ),
)  # fmt: skip
"""Forms that a regular expression sees. JSON and Python are read with their own grammars, below."""

_NAMED_JSON = "JSON: Hermes, Qwen, Llama, Granite, Phi, Cohere, Jamba, xLAM and many more"
_GLUED_JSON = "a name before its JSON: functionary, or special tokens stripped"
_PYTHON = "Python: Llama 4, LFM2, OLMo 3, Gemma 3"

_OPENERS = lazy_pattern(
    rf"(?:{_SPECIAL}|{_CALL_TAG}|\[TOOL_CALLS\]|\bfunctools|-> tool/function_call|<function_call>)\s*$", re.IGNORECASE
)
"""What stands before a call's JSON or Python when the markup is still there."""
_FENCE = lazy_pattern(r"```([\w+-]*)[^\n`]*\n(.*?)(?:\n?[ \t]*```|\Z)", re.DOTALL)
_CALL_FENCES = ("", "json", "jsonc", "tool_call", "tool_calls", "tool_code", "xml", "text", "plaintext", "action")
_JSON_START = lazy_pattern(r'[\[{]\s*(?:\{\s*)?"([\w.\-]+)"\s*:')
_CUT_CALL = lazy_pattern(
    r'\[?\s*\{\s*"name"\s*:\s*"([\w.-]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*[{"](?!\s*"type")'
)
"""The beginning of a call whose end is missing: the answer stopped at the token limit."""
_QUOTED = lazy_pattern(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_PROSE = lazy_pattern(r"[^\W\d_]{2,}(?:[ ,;']+[^\W\d_]+){2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{5,}")
_REASONING = lazy_pattern(r"<(think|thinking|thought)>.*?</\1>|^.*?</think(?:ing)?>", re.DOTALL)
_SHOWS = lazy_pattern(
    r"example|e\.g\.|for instance|such as|\byou(?:'d| can| could| would| might| should| may| need to)\b|users? can"
    r"|\bwould (?:call|write|be|use|look|have)|\bcould (?:call|write|be|use|look)|\bmodels? \w+|usage|syntax"
    r"|\bformats?\b|documentation|schema|definition|\bwas (?:called|logged)|\blog(?:ged|s)?\b|looks like"
    r"|\bcontains|\bsignature|zum Beispiel|par exemple|por ejemplo|例如|比如|示例|たとえば",
    re.IGNORECASE,
)
"""Words that introduce an example rather than an actual call."""
_ACTS = lazy_pattern(
    r"\b(?:let me|i'll|i’ll|i will|i am going to|i'm going to|i need to (?:call|use)|calling|checking|looking up)\b"
    r"|ich (?:rufe|werde|schaue)|je vais|voy a|我(?:将|会|来)",
    re.IGNORECASE,
)
"""Words that announce an actual call."""
_ASKS = r"\b(?:show|give|write|print|explain|describe|generate|provide|draft|what|how|which|teach)\b[\s\S]{0,120}?"
_ASKS_FOR_WRITING = lazy_pattern(
    _ASKS + r"\b(?:examples?|samples?|formats?|syntax|schemas?|payloads?|snippets?|tutorials?|documentation|json|curl"
    r"|looks? like|markup|pseudo-?code|request body|in (?:python|javascript|typescript|xml|code))\b",
    re.IGNORECASE,
)
_ABOUT_TOOLS = lazy_pattern(
    r"\b(?:tool|function)[ -]?(?:calls?|calling|use)\b|\bcall(?:ing)? (?:the|this|that|your|a) (?:tool|function)\b"
    r"|\b(?:your|these|available) tools\b",
    re.IGNORECASE,
)
_CODE = lazy_pattern(_ASKS + r"\b(?:code|scripts?|python|functions?|program|snippets?|examples?)\b", re.IGNORECASE)
_PLACEHOLDER = lazy_pattern(
    r"<[\w ]+>|\{\w+\}|\.\.\.|…|string|str|number|integer|[A-Z]+(?:_[A-Z]+)+|your[ _].*|.* name"
)
_NAME_FIELDS = ("name", "tool_name", "tool", "function", "function_name", "action", "recipient_name")
_ARGUMENT_FIELDS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "params", "kwargs")
_OTHER_FIELDS = {"id", "type", "index", "tool_call_id", "call_id", "thought", "thoughts", "reasoning", "server_name"}
_MOST_TRIES = 8
"""JSON starts looked at in one text; a document full of JSON is not a call anyway."""
_SHOWN = 120
"""Characters of evidence after the opening of a call."""


def call_in(text: str | None, request: Request, *, thought: bool = False) -> TextCall | None:
    """The first call left in `text`, if the request offered the tool that it names.

    `thought`: the text is reasoning, in which calls are plans and memories unless the thoughts end with them.
    """
    if not text or not request.tools:
        return None
    offered = offered_tools(request)
    if not any(name and name in text for name in offered):
        return None
    page = _Page(text, request, offered, thought)
    return next((call for find in (_written, _json, _glued, _elements, _python) for call in find(page)), None)


def fence_at(text: str, place: int) -> re.Match[str] | None:
    """The fenced block whose body holds this place."""
    fences = _FENCE.finditer(text) if "```" in text else ()
    return next((fence for fence in fences if fence.start(2) <= place < fence.end(2)), None)


def is_quoted(text: str, place: int) -> bool:
    """Whether this place is in a code span, a quoted string or a table."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    in_table = line.lstrip().startswith("| ")
    return in_table or line.replace("```", "").count("`") % 2 == 1 or line.endswith(("'", '"', "“"))


class _Page(NamedTuple):
    """A text that may hold a call, with the request that it answers."""

    text: str
    request: Request
    offered: dict[str, Any]
    thought: bool = False

    def taught(self, *marks: str) -> bool:
        """Whether the conversation itself shows the model all of these marks."""
        told = instructions(self.request)
        return all(mark in told for mark in marks)

    def opener(self, place: int) -> str:
        """The special token or the tag for calls that stands right before this place, if there is one."""
        match = _OPENERS.search(self.text[max(0, place - 60) : place])
        return match[0].strip() if match else ""

    def counts(self, kind: Kind, start: int, end: int) -> bool:
        """Whether a call written from `start` to `end` is meant as a call and not as an example."""
        if is_quoted(self.text, start):
            return False
        if self.thought:
            # Marked-up arguments may be prose themselves, so only what follows the last mark decides.
            return not _prose(self.text[end:] if kind is Kind.PLAIN else re.split(r"[>}]", self.text[end:])[-1])
        if kind is Kind.SPECIAL:
            return fence_at(self.text, start) is None or self._stands_alone(start, end)
        if kind is Kind.TAG and fence_at(self.text, start) is None and not self._shown(start):
            before = self.text[:start].rstrip()
            return not before or self.text[start - 1] == "\n" or not before[-1].isalpha() or not _prose(self.text[end:])
        return not _is_json_mode(self.request) and self._stands_alone(start, end)

    def _shown(self, start: int) -> bool:
        lead = re.sub(r"```[\w+-]*\s*$", "", self.text[max(0, start - 200) : start]).rstrip().rpartition("\n\n")[2]
        last = re.split(r"(?<=[.!?])\s", lead)[-1]
        return _SHOWS.search(last) is not None and _ACTS.search(last) is None

    def _stands_alone(self, start: int, end: int) -> bool:
        """Whether the call begins or ends the answer or follows an announcement, and the user asked for no example."""
        if self._shown(start) or _asked_to_see(self.request, self.offered):
            return False
        before, after = _REASONING.sub("", self.text[:start]), self.text[end:]
        if not _prose(after) or _ACTS.search(before[-160:]) or _ACTS.search(after[:160]):
            return True
        return not _prose(before) and fence_at(self.text, start) is None


def _prose(text: str) -> bool:
    """Whether there are words in a row outside of quotes: JSON and markup of further calls are not prose."""
    return _PROSE.search(_QUOTED.sub('""', text)) is not None


def _is_json_mode(request: Request) -> bool:
    wanted = request.body.get("response_format")
    return isinstance(wanted, dict) and str(wanted.get("type")).startswith("json")


def _asked_to_see(request: Request, offered: Mapping[str, Any]) -> bool:
    """Whether the user's last words ask for a written example of a call."""
    said = last_question(request)
    return _ASKS_FOR_WRITING.search(said) is not None and (
        _ABOUT_TOOLS.search(said) is not None or any(name in said for name in offered)
    )


@cache
def _compiled() -> tuple[tuple[Form, re.Pattern[str]], ...]:
    # Compiled when first needed: most answers name no tool, and these take long to compile.
    flags = re.VERBOSE | re.MULTILINE
    return tuple((form, re.compile(form.pattern.replace("NAME", _NAME), flags)) for form in FORMS)


def _written(page: _Page) -> Iterator[TextCall]:
    found = []
    for form, pattern in _compiled():
        for match in pattern.finditer(page.text):
            name = match["name"]
            if name not in page.offered and (form.kind is Kind.PLAIN or meant_tool(name, page.offered) is None):
                continue
            end = _end_of_arguments(page.text, match.end())
            if not page.taught(_mark(match[0], name)) and page.counts(form.kind, match.start(), end):
                found.append(TextCall(match.start(), min(len(page.text), max(end, match.end() + _SHOWN)), form.name))
                break
    yield from sorted(found)[:1]


def _mark(opening: str, name: str) -> str:
    """What a prompt would have to show to teach this form: its first tag, or all that stands before the name."""
    tag = re.match(r"<[^<>\s]+>|\[TOOL_CALLS\]|functools|<[\w:｜|]+", opening)
    return tag[0] if tag else opening.partition(name)[0].strip() or opening


def _end_of_arguments(text: str, place: int) -> int:
    """Where the JSON after an opening ends; without JSON, the place itself."""
    match = re.compile(r"\s*(?=[\[{])").match(text, place)
    try:
        return leading_json(text, match.end())[1] if match else place
    except NotJson:
        return place


def _json(page: _Page) -> Iterator[TextCall]:
    """A call spelt out as JSON: `{"name": …, "arguments": …}` in its many spellings."""
    position = 0
    for _ in range(_MOST_TRIES):
        match = _JSON_START.search(page.text, position)
        if match is None:
            return
        try:
            value, end = leading_json(page.text, match.start())
        except NotJson:
            cut = _CUT_CALL.match(page.text, match.start())
            named = cut is not None and _tool_of(cut[1], page.offered)
            if (
                named
                and is_unterminated(page.text[match.start() :])
                and page.counts(Kind.PLAIN, match.start(), len(page.text))
            ):
                yield TextCall(match.start(), len(page.text), _NAMED_JSON)
            position = match.start() + 1
            continue
        position = end
        fields = _call_fields(value, page.offered)
        if fields is None or not _at_a_start(page, match.start()):
            continue
        opener = page.opener(match.start())
        if not page.taught(*((opener,) if opener else fields)) and page.counts(
            Kind.TAG if opener else Kind.PLAIN, match.start(), end
        ):
            yield TextCall(match.start(), end, _NAMED_JSON)


def _at_a_start(page: _Page, place: int) -> bool:
    """JSON inside a fence must be all of it; inside a program it is data."""
    fence = fence_at(page.text, place)
    if fence is None:
        return True
    before = fence[2][: place - fence.start(2)]
    return fence[1].lower() in _CALL_FENCES and not _prose(before) and before.strip() in ("", "functools")


def _call_fields(value: Any, offered: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The quoted keys by which a JSON value is a call, or a list of calls, of offered tools; None if it is none."""
    if isinstance(value, list):
        each = [_call_fields(item, offered) for item in value]
        return each[0] if each and None not in each else None
    if not isinstance(value, dict):
        return None
    for wrapper in ("tool_calls", "tool_uses", "function_call", "tool_call", "function"):
        if isinstance(value.get(wrapper), dict | list):
            inner = _call_fields(value[wrapper], offered)
            return None if inner is None else (f'"{wrapper}"', *inner)
    named = next((field for field in _NAME_FIELDS if _tool_of(value.get(field), offered)), None)
    if named is None:
        return _keyed_by_name(value, offered)
    given = next((field for field in _ARGUMENT_FIELDS if isinstance(value.get(field), dict | str)), None)
    if given is None or value.keys() - _OTHER_FIELDS - {named, given}:
        return None
    return (f'"{named}"', f'"{given}"') if _are_arguments(value[given]) else None


def _keyed_by_name(value: dict[str, Any], offered: Mapping[str, Any]) -> tuple[str, ...] | None:
    """`{"get_weather": {"city": "Tokyo"}}`, as Apertus writes: only with arguments that the tool has."""
    if len(value) != 1:
        return None
    ((name, arguments),) = value.items()
    fits = name in offered and isinstance(arguments, dict) and _fits(arguments, offered[name])
    return (f'"{name}"',) if fits else None


def _tool_of(name: Any, offered: Mapping[str, Any]) -> bool:
    return isinstance(name, str) and name.removeprefix("functions.") in offered


def _are_arguments(arguments: Any) -> bool:
    """Whether these are values: neither a schema nor placeholders of a manual."""
    if isinstance(arguments, str):
        return not _PLACEHOLDER.fullmatch(arguments.strip())
    if arguments.get("type") == "object" and "properties" in arguments:
        return False
    described = [one for one in arguments.values() if isinstance(one, dict) and {"type", "description"} & one.keys()]
    values = [one for one in arguments.values() if isinstance(one, str)]
    return not described and not (values and all(_PLACEHOLDER.fullmatch(one.strip()) for one in values))


def _fits(arguments: dict[str, Any], parameters: Any) -> bool:
    """Whether the tool has parameters of these names, and none that it requires is missing."""
    schema = parameters if isinstance(parameters, dict) else {}
    properties, required = schema.get("properties"), schema.get("required")
    known = properties.keys() if isinstance(properties, dict) else set()
    wanted = set(required) if isinstance(required, list) else set()
    return arguments.keys() <= known and wanted <= arguments.keys() and _are_arguments(arguments)


def _glued(page: _Page) -> Iterator[TextCall]:
    """A name right before a JSON object that fits the tool: what is left when special tokens are stripped."""
    if "{" not in page.text:
        return
    names = "|".join(sorted(map(re.escape, filter(None, page.offered)), key=len, reverse=True))
    before = r"(?:^|>>>|(?<=[\s>.:}])|(?<=\bfunction)|(?<=[0-9a-f]{6}))"
    opening = rf"{before}({names})(?::\d+)?\s*(?:json\s*)?(?:```json\s*)?(?=\{{)"
    for match in re.finditer(opening, page.text, re.MULTILINE):
        try:
            arguments, end = leading_json(page.text, match.end())
        except NotJson:
            continue
        fits = isinstance(arguments, dict) and _fits(arguments, page.offered[match[1]])
        if fits and page.counts(Kind.PLAIN, match.start(), end):
            yield TextCall(match.start(), end, _GLUED_JSON)


def _elements(page: _Page) -> Iterator[TextCall]:
    """`<get_weather><city>Tokyo</city></get_weather>`: an element for the tool and one for each parameter."""
    for match in re.finditer(r"<([A-Za-z_][\w.-]*)>\s*<([\w-]+)>", page.text):
        schema = page.offered.get(match[1])
        properties = schema.get("properties") if isinstance(schema, dict) else None
        known = isinstance(properties, dict) and match[2] in properties
        end = page.text.find(f"</{match[1]}>", match.end())
        if known and end > 0 and not page.taught(f"<{match[1]}>") and page.counts(Kind.TAG, match.start(), end):
            yield TextCall(match.start(), min(end, match.end() + _SHOWN), "elements named as the tool: Cline, Roo Code")


def _python(page: _Page) -> Iterator[TextCall]:
    """Lines of Python that call offered tools with literal values, and do nothing else."""
    if "(" not in page.text:
        return
    for start, end in _python_parts(page):
        body = page.text[start:end].strip()
        if any(name in body for name in page.offered) and _calls_only(body, page.offered):
            place = page.text.index(body, start)
            if page.counts(Kind.PLAIN, place, place + len(body)) and not page.taught(body.partition("(")[0] + "("):
                yield TextCall(place, place + len(body), _PYTHON)


def _python_parts(page: _Page) -> Iterator[tuple[int, int]]:
    """Where Python may stand: in fences, between tags, on the last lines, or as the whole."""
    asked = _CODE.search(last_question(page.request)) is not None
    for fence in _FENCE.finditer(page.text) if "```" in page.text else ():
        if fence[1].lower() in ("tool_code", "tool_call", "tool_calls") or (
            fence[1].lower() in ("", "python", "py") and not asked
        ):
            yield fence.span(2)
    for opener in re.finditer(rf"{_SPECIAL}|{_CALL_TAG}", page.text, re.VERBOSE):
        close = page.text.find("<", opener.end())
        yield opener.end(), len(page.text) if close < 0 else close
    lines = page.text.rstrip().rpartition("\n\n")[2]
    for body in (page.text.strip(), lines, lines.rpartition("\n")[2]):
        start = page.text.rfind(body)
        yield start, start + len(body)


_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.USub, ast.Load)


def _calls_only(body: str, offered: Mapping[str, Any]) -> bool:
    """Whether a program is nothing but calls of offered tools: bare, in a list, awaited, printed or assigned."""
    if len(body) > 20_000:
        return False
    try:
        with warnings.catch_warnings(action="ignore"):  # Python would tell the user of odd literals in it
            statements = ast.parse(body).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    made = [_made(one.value, offered) for one in statements if isinstance(one, ast.Expr | ast.Assign)]
    return bool(made) and len(made) == len(statements) and None not in made and any(made)


def _made(node: ast.expr, offered: Mapping[str, Any]) -> bool | None:
    """True for a call of an offered tool, False for the printing of a variable, None for anything else."""
    if isinstance(node, ast.List | ast.Tuple):
        made = [_made(item, offered) for item in node.elts]
        return True if made and all(made) else None
    if isinstance(node, ast.Await):
        return _made(node.value, offered)
    if not isinstance(node, ast.Call):
        return None
    name = ast.unparse(node.func)
    if name == "print" and len(node.args) == 1:
        return False if isinstance(node.args[0], ast.Name) else _made(node.args[0], offered)
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    name = name.removeprefix("default_api.").removeprefix("functions.").removesuffix(".call")
    if name not in offered or not all(map(_is_literal, values)) or _is_manual(values):
        return None
    return True if values or _fits({}, offered[name]) else None


def _is_literal(node: ast.expr) -> bool:
    return all(
        isinstance(part, _LITERAL) or (isinstance(part, ast.Name) and part.id in ("true", "false", "null"))
        for part in ast.walk(node)
    )


def _is_manual(values: list[ast.expr]) -> bool:
    words = [one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return bool(words) and all(_PLACEHOLDER.fullmatch(word.strip()) for word in words)
