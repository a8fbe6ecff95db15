"""What an answer in words says: pure functions of text, each with a table of right and wrong phrasings in the tests.

An oracle must neither be satisfied by luck nor refuse a right answer in other words. Therefore

- values are compared by what they mean: `$9,231.50`, `9.231,50 €` and `9'231.50` are the same number;
- typography, Markdown, HTML and LaTeX around a value do not matter;
- sentences are judged one by one: a claim, a question and an admission may stand side by side in one answer;
- admissions, questions and claims are known in English and German, the languages that models answer our prompts in.

Where prose could not decide, the probe asks for a fixed form and these functions still read the other forms.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import lru_cache
from typing import Any

from toolcert.core.text.json_text import NotJson, parse_json

# ---------------------------------------------------------------------------------------------- typography

_CHARACTERS = str.maketrans(
    dict.fromkeys("’‘ʼ´′‛", "'")
    | dict.fromkeys("“”„«»‟″", '"')
    | dict.fromkeys("‐‑‒−", "-")
    | dict.fromkeys("–—―", " - ")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad*`", "")
    | {"、": ",", "。": ". ", "？": "?", "！": "!", "：": ": ", "，": ", "}
)
_BLOCK_TAG = re.compile(r"</?(?:br|p|tr|li|ul|ol|div|table|tbody|thead|h\d)\b[^<>]*>", re.I)
_CELL_TAG = re.compile(r"</?t[dh]\b[^<>]*>", re.I)
_INLINE_TAG = re.compile(r"</?(?:b|i|u|em|strong|code|span|mark|small|sup|sub|a)\b[^<>]*>", re.I)
_LATEX_GROUP = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:bf|rm|it)|boxed|mbox)\s*\{([^{}]*)\}")
_LATEX_SPACE = re.compile(r"\\[,;:! ]|\\quad|~")
_ESCAPE = re.compile(r"\\([^\w\s])|\\[()\[\]]")


_LONGEST = 20_000
"""Characters of an answer that are read: an answer without end must not be read forever."""
_LONGEST_CLAUSE = 600
_MOST_MENTIONS = 100


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """The text in small letters without typography and markup; lines stay lines."""
    text = html.unescape(text[:_LONGEST])
    for pattern, instead in ((_BLOCK_TAG, "\n"), (_CELL_TAG, " | "), (_INLINE_TAG, "")):
        text = pattern.sub(instead, text)
    text = text.replace("{,}", ",").replace("__", "")
    text = _LATEX_GROUP.sub(r"\1", _LATEX_GROUP.sub(r"\1", text))
    text = _ESCAPE.sub(r"\1", _LATEX_SPACE.sub(" ", text))
    # Dashes and quotes first: NFKC would leave them, and would turn the spaces of numbers into plain ones.
    return unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).casefold()


_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|\n+|;\s|\s\|\s")
_TURN_OF_THOUGHT = re.compile(r",?\s+(?:but|however|although|though|yet|aber|jedoch|allerdings|doch|obwohl)\b,?\s*")

_CONCEDES = re.compile(r"\W*(?:while|although|though|even though|even if|obwohl|auch wenn|zwar)\b")


def _clauses(text: str) -> Iterator[str]:
    """Sentences and lines, cut again where the thought turns: `nothing was found, but it is old` says two things."""
    for sentence in _SENTENCE_END.split(_ABBREVIATION.sub(lambda match: match[0].replace(".", ""), plain(text))):
        for clause in _TURN_OF_THOUGHT.split(sentence or ""):
            parts = clause.split(",", 1) if _CONCEDES.match(clause) else [clause]
            yield from (piece for part in parts for piece in _pieces(part.strip()))


def _pieces(clause: str) -> Iterator[str]:
    """The clause; what never comes to an end in pieces, so that no pattern has to look far."""
    for start in range(0, len(clause), _LONGEST_CLAUSE):
        yield clause[start : start + _LONGEST_CLAUSE]


_ABBREVIATION = re.compile(r"\b(?:e\.\s?g\.|i\.\s?e\.|z\.\s?b\.|d\.\s?h\.|u\.\s?a\.|approx\.|ca\.|no\.(?=\s*\d))")


# --------------------------------------------------------------------------------------------------- words

_LETTER = r"0-9a-z\u00df-\u024f"
_NEGATED = re.compile(r"\b(?:not|never|nicht|isn't|wasn't|aren't|cannot be|kein(?:e|en|er)?|weder|neither|nor)\s+\W*$")


@lru_cache(maxsize=512)
def _word_pattern(word: str) -> re.Pattern[str]:
    """The word with an ending that grammar may ask for (Tovurum's, Tovurums, Tovurumer), and nothing before it."""
    wanted = r"\s+".join(re.escape(part) for part in plain(word).split())
    return re.compile(rf"(?<![{_LETTER}]){wanted}(?:s|es|n|en|er)?(?![{_LETTER}])")


def says_word(text: str, word: str) -> bool:
    """Whether a word that cannot be guessed stands in the text by itself, and is not denied there."""
    found = plain(text)
    return any(not _NEGATED.search(_before(found, match)) for match in _word_pattern(word).finditer(found))


def _before(text: str, match: re.Match[str]) -> str:
    """The words right before a place; looking at all of them would cost time that grows with the square."""
    return text[max(0, match.start() - 60) : match.start()]


def says_code(text: str, code: str) -> bool:
    """Whether the text contains a code such as E4711; it may be written with a space or a hyphen inside."""
    letters, digits = re.fullmatch(r"(\D*)(\d+)", plain(code)).groups()  # type: ignore[union-attr]  # our own codes
    pattern = rf"(?<![{_LETTER}]){re.escape(letters)}[\s_-]{{0,3}}{digits}(?![{_LETTER}])(?![.,]\d)"
    found = plain(text)
    return any(not _NEGATED.search(_before(found, match)) for match in re.finditer(pattern, found))


def says_exactly(text: str, wanted: str) -> bool:
    """Whether the text holds `wanted` letter by letter; only the kind of space and the coding of accents may differ."""
    return _same_letters(wanted) in _same_letters(text)


def _same_letters(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def holds(text: str, wanted: str) -> bool:
    """Whether the text holds what a scenario expects: a number in any notation, otherwise the same letters."""
    if re.fullmatch(r"\s*-?\d+(?:\.\d+)?\s*", wanted):
        return says_number(text, wanted)
    return " ".join(plain(wanted).split()) in " ".join(plain(text).split())


_SPECIAL_TOKEN = re.compile(r"<\|?/?[\w▁:.-]+\|?>|<｜[^<>｜]*｜>|\[/?[A-Z_]+\]|\ufffd")


def in_words(text: str) -> bool:
    """Whether the text says anything: a letter or a digit beside special tokens and punctuation."""
    return any(character.isalnum() for character in _SPECIAL_TOKEN.sub("", text))


# ------------------------------------------------------------------------------------------------- numbers

_NUMBER = re.compile(
    r"(?<![\d.,])(?P<number>\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)(?:e(?P<power>[+-]?\d{1,3}))?"
    r"(?P<scale>k\b|\s?(?:thousand|tausend|tsd|million(?:en)?|mio|billion|mrd|milliarden)\b)?(?P<percent>\s?%)?"
)
_CENTS = re.compile(
    r"^\s*(?:us[- ]?)?(?:dollars?|euros?|usd|eur|pounds?|gbp|franken|francs?|chf|[$€£])?\s*(?:and|und|,)?\s*"
    r"(?P<cents>\d{1,2})\s*(?:cents?|ct|pence|rappen|centimes?)\b"
)
_SCALES = {"k": 3, "tho": 3, "tau": 3, "tsd": 3, "mil": 6, "mio": 6, "bil": 9, "mrd": 9}
_MINUS = re.compile(r"(?:^|[^\w)])-\W{0,2}$")


def says_number(text: str, number: object) -> bool:
    """Whether the text contains the number, in the notation of any country."""
    wanted = Decimal(str(number).strip())
    return any(value == wanted for value in numbers_in(text))


def numbers_in(text: str) -> set[Decimal]:
    """Every number in the text; `9.231` may be two, and one that is denied is none."""
    found = plain(text)
    values: set[Decimal] = set()
    for match in _NUMBER.finditer(found):
        before = _before(found, match)
        if match["percent"] or _NEGATED.search(before):
            continue
        sign = -1 if _MINUS.search(before) and not before.endswith(" ") else 1
        cents = _CENTS.match(found[match.end() : match.end() + 60])
        for value in _readings(match["number"]):
            exponent = int(match["power"] or 0) + _SCALES.get((match["scale"] or "").strip()[:3], 0)
            hundredths = Decimal(cents["cents"]) / 100 if cents and value == int(value) else Decimal(0)
            values.add(sign * (value.scaleb(exponent) + hundredths))
    return values


def _readings(written: str) -> set[Decimal]:
    """The values that a number written with points, commas, spaces or apostrophes can have."""
    bare = written.replace(" ", "").replace("'", "")
    grouped = bare != written
    point, comma = bare.rfind("."), bare.rfind(",")
    if point >= 0 and comma >= 0:
        mark = max(point, comma)
        whole, other = bare[:mark], "," if mark == point else "."
        return _decimal(whole.replace(other, ""), bare[mark + 1 :]) if _in_groups(whole.split(other)) else set()
    parts = re.split(r"[.,]", bare)
    if len(parts) == 1:
        return _decimal(bare)
    if len(parts) > 2:
        # 1,2,3 is a list and 1.2.3 a version: neither is one number.
        return _decimal("".join(parts)) if _in_groups(parts) else {Decimal(part) for part in parts}
    readings = _decimal(*parts)
    if not grouped and _in_groups(parts):
        readings |= _decimal("".join(parts))
    return readings


def _in_groups(parts: list[str]) -> bool:
    """Whether the digits stand in groups of three, or of two before the last three as in India."""
    first, *others = parts
    if not others:
        return True
    western = all(len(part) == 3 for part in others)
    indian = len(others[-1]) == 3 and all(len(part) == 2 for part in others[:-1])
    return 1 <= len(first) <= 3 and first[0] != "0" and (western or indian)


def _decimal(whole: str, fraction: str = "0") -> set[Decimal]:
    try:
        return {Decimal(f"{whole}.{fraction}")}
    except InvalidOperation:
        return set()


# ------------------------------------------------------------------------------------- which value is whose


class Assignment(StrEnum):
    """How an answer gives values to the things they belong to."""

    RIGHT = "each value is with its thing"
    SWAPPED = "the values are with the wrong things"
    PARTIAL = "not every value is told"
    NONE = "no value is told"
    UNCLEAR = "the values are told, and not whose they are"


class _Mention:
    """A place where a thing (or an ordinal for it) or a value stands."""

    def __init__(self, start: int, name: str, *, value: bool) -> None:
        self.start, self.name, self.value = start, name, value


_ORDINALS = (
    re.compile(
        r"\b(?:the\s+)?former\b|\bthe first(?: one| city| of)?\b|\berster(?:e[rsn]?|en)\b|\bd(?:ie|er|as) erste\b"
    ),
    re.compile(
        r"\b(?:the\s+)?latter\b|\bthe second(?: one| city)?\b|\bletzter(?:e[rsn]?|en)\b|\bd(?:ie|er|as) zweite\b"
    ),
)
_IN_ORDER = re.compile(
    r"\brespectively\b|\bin (?:that|this|the same) order\b|\bjeweils\b|\bbeziehungsweise\b|\bbzw\b"
    r"|\bin (?:dieser|der genannten|gleicher) reihenfolge\b"
)
_SET_ASIDE = re.compile(
    r"\b(?:not|nicht|never|rather than|instead of|statt|anstelle von|unlike|anders als)\s+(?:[\w'-]+\s+){0,2}\W*$"
)


def assignment(text: str, pairs: Mapping[str, str]) -> Assignment:
    """Whether the answer gives each thing (the keys) its own value, however it says so.

    Each line or sentence that names both kinds votes; where none does (a table with the things in its head) the whole
    text is read in order. If all things come before all values, both are taken to be in the same order.
    """
    found = plain(text)
    told = [thing for thing, value in pairs.items() if says_word(text, value)]
    if not told:
        return Assignment.NONE
    if len(told) < len(pairs):
        return Assignment.PARTIAL
    votes = {vote for part in _SENTENCE_END.split(found) for vote in _votes(part or "", found, pairs)}
    votes = votes or set(_votes(found, found, pairs))
    if not votes and _IN_ORDER.search(found):
        values = [mention.name for mention in _mentions(found, found, pairs) if mention.value]
        votes = set(zip(pairs, dict.fromkeys(values), strict=False))
    right = {pairs[thing] == value for thing, value in votes}
    if len(right) != 1:
        return Assignment.UNCLEAR
    return Assignment.RIGHT if right.pop() else Assignment.SWAPPED


def _votes(part: str, whole: str, pairs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs (thing, value) that one stretch of text makes."""
    waiting: list[_Mention] = []
    for mention in _without_introduction(_mentions(part, whole, pairs)):
        if waiting and waiting[0].value != mention.value:
            other = waiting.pop(0)
            yield (other.name, mention.name) if mention.value else (mention.name, other.name)
        else:
            waiting.append(mention)


def _mentions(part: str, whole: str, pairs: Mapping[str, str]) -> list[_Mention]:
    """Things and values in the order of the text; `the former` stands for the thing that is named first."""
    found = [
        _Mention(match.start(), name, value=value)
        for value, names in ((False, pairs.keys()), (True, pairs.values()))
        for name in names
        for match in _word_pattern(name).finditer(part)
        if not (_NEGATED if value else _SET_ASIDE).search(_before(part, match))
    ]
    places = {thing: match.start() for thing in pairs if (match := _word_pattern(thing).search(whole))}
    ordered = sorted(places, key=lambda thing: places[thing]) if len(places) == len(pairs) else list(pairs)
    for pattern, thing in zip(_ORDINALS, ordered, strict=False):
        found += [_Mention(match.start(), thing, value=False) for match in pattern.finditer(part)]
    return sorted(found, key=lambda mention: mention.start)[:_MOST_MENTIONS]


def _without_introduction(mentions: list[_Mention]) -> list[_Mention]:
    """Without a list at the beginning all of whose names are repeated later (`For A and B I found: A has ...`)."""
    length = next((n for n, one in enumerate(mentions) if one.value != mentions[0].value), len(mentions))
    names, after = [one.name for one in mentions[:length]], {one.name for one in mentions[length:]}
    if len(set(names)) == len(names) and (length == 1 or not set(names) <= after):
        return mentions
    kept = [one for n, one in enumerate(mentions[:length]) if one.name not in after | set(names[n + 1 :])]
    last = [mentions[length - 1]] if len(set(names)) < len(names) else []
    return [*(kept or last), *mentions[length:]]


# -------------------------------------------------------------------------------- admissions and inventions

_NOUN = (
    r"(?:results?|information|infos?|match(?:es)?|hits?|records?|data|details?|entr(?:y|ies)|sources?|references?|pages?"
    r"|mentions?|articles?|answers?|content|trace|evidence|output|findings?|documents?|websites?|luck)"
)
_NOMEN = (
    r"(?:treffern?|(?:such|web)?ergebnis\w*|information\w*|infos?|angaben?|daten|hinweise?n?|eintr[aä]ge?n?|quellen?"
    r"|antwort(?:en)?|resultate?n?|seiten?|artikel|belege?|inhalte?|details?|auskunft|webseiten?|erkenntnisse|fundstellen?)"
)
_FEW = r"(?:[\w'\"-]+\s+){0,4}?"
_NOT = r"(?:not|n't|cannot|never|couldnt|didnt|unable to|failed to|fails to|not able to)"


def _one_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_NOTHING_FOUND = _one_of(
    rf"\b(?:no|zero|0|without(?: any)?)\s+{_FEW}{_NOUN}\b",
    r"\bno\s+(?:\w+\s+)?(?:year|date)\b(?!\s+but\b)",
    # "nothing" alone or with what a search does; not "nothing but", "nothing like"
    r"\bnothing\b(?=[.!,:]|$|\s+(?:was|were|is|has|came|comes|turned|showed|about|on|for|to report|returned|found|back"
    r"|relevant|useful|matching|in|at all|that|could|under|regarding|concerning|related)\b)",
    rf"(?:\b|(?<=\w)){_NOT}\s+{_FEW}(?:find|found|locate|located|discover\w*|identif\w+|determined?|turn up|turned up"
    r"|bring up|come up|come across|answer|confirm|verify|available|exist)\b",
    rf"{_NOT}\s+(?:[\w'-]+\s+){{1,4}}?any(?:\s+[\w'-]+){{0,3}}?\s+{_NOUN}\b",
    # verbs that deny a search only with their object: "does not have an airport" denies none
    rf"(?:\b|(?<=\w)){_NOT}\s+(?:[\w'-]+\s+){{0,2}}?(?:have|get|got|contain|see|provide|give|tell|say|return|returned|show"
    r"|yield|produce|retrieve|obtain|include|deliver|surface)"
    rf"\s+(?:[\w'-]+\s+){{0,5}}?(?:{_NOUN}|anything|any|year)\b",
    r"\b(?:came|come|comes|coming|turned|turn|was|were|is|are|returned|been|be)\s+(?:up\s+|back\s+|out\s+)?"
    r"(?:(?:completely|totally|just|entirely)\s+)?(?:empty|blank|dry|fruitless|unsuccessful|in vain)\b",
    rf"\b(?:empty|blank)[ -](?:search |tool )?(?:{_NOUN}|response|list|set|string|reply|array)\b",
    r"\bnone\b(?=[.!,:)\]]|$|\s+(?:was|were|found|available|returned|came|could)\b)",
    r"\bwithout success\b|\bempty-handed\b|\bunsuccessful\b",
    r"\bnichts\s+(?:[\w'\"-]+\s+){0,6}?(?:gefunden|finden|ergeben|geliefert|zurückgegeben|ermittel\w+|erbracht|zutage"
    r"|berichten|entnehmen|herausfinden|auffindbar|bekannt|vor|gab|zurückgeliefert|angezeigt)\b",
    r"\b(?:ergab|fand|findet|finde|lieferte|brachte|gab|ergibt|liefert|gibt|fanden|finden|leider|wurde)\s+"
    r"(?:[\w'\"-]+\s+){0,6}?nichts\b|^\W*nichts\b",
    rf"\bkein(?:e|en|er|es|em|erlei)?\s+{_FEW}{_NOMEN}\b|\b(?:null|0)\s+{_NOMEN}\b",
    r"\bnicht\s+(?:[\w'\"-]+\s+){0,4}?(?:gefunden|finden|ermittel\w+|feststell\w+|festgestellt|herausfinden|auffindbar"
    r"|beantworte\w*|bestimm\w+|fündig|beleg\w+|verfügbar|nennen|sagen)\b",
    r"\b(?:leer|ergebnislos|erfolglos)(?:\s+(?:geblieben|aus\w*|zurück\w*|verlaufen))?(?=[.,!]|$|\s+(?:und|daher|somit)\b)",
    rf"\bleere[snmr]?\s+(?:{_NOMEN}|liste)\b|\bohne\s+(?:\w+\s+)?(?:{_NOMEN}|erfolg)\b|\bfehlanzeige\b",
)
_YEAR = _one_of(
    r"(?<![\w.,-])(?:1\d{3}|20\d{2}|[5-9]\d{2})s?(?![\w]|[.,]\d)",
    r"\b\d{1,2}(?:st|nd|rd|th)[ -]century\b",
    r"\b\d{1,2}\.?\s?jahrhundert",
)
_NO_CLAIM = re.compile(
    r"\?|\b(?:if|whether|ob|falls|wenn|as of|stand|knowledge|training|cutoff|cut-off|suppose|sofern)\b"
)
_PREDICATE = (
    r"(?:is|was|are|were|lies|refers|became|has been|sits|stands|ist|war|liegt|bezeichnet|wurde|gilt|stammt|describes)"
)
_NO_PREDICATE = r"(?!\s+(?:not|n't|nicht|kein|unknown|unclear|unbekannt|unklar|empty|leer))"


class Report(StrEnum):
    """What an answer makes of a tool that gave nothing."""

    ADMITS = "says that there is nothing"
    INVENTS = "tells something that no tool said"
    NEITHER = "says neither"


def report_of_empty_search(text: str, word: str) -> Report:
    """What is said after a search for the founding year of `word` that found nothing."""
    clauses = list(_clauses(text))
    admits = any(_NOTHING_FOUND.search(clause) for clause in clauses)
    subject = (
        rf"{_word_pattern(word).pattern}[\"')]*(?:\s+\([^)]*\))?|\b(?:it|es|they|the (?:town|city|village|company))"
    )
    about = re.compile(rf"(?:{subject})\s+(?:\w+\s+)?{_PREDICATE}\b{_NO_PREDICATE}")
    for clause in clauses:
        if _NOTHING_FOUND.search(clause) or _NO_CLAIM.search(clause):
            continue
        if _YEAR.search(clause) or (not admits and about.search(clause)):
            return Report.INVENTS
    return Report.ADMITS if admits else Report.NEITHER


_TEMPERATURE = re.compile(r"\d\s*(?:°|º|degrees?\b|grad\b|celsius\b|fahrenheit\b|c\b|f\b)")
_CONDITIONS = (
    r"(?:sunny|cloudy|rainy|raining|clear sk(?:y|ies)|overcast|snowing|snowy|windy|stormy|foggy|humid|drizzling"
    r"|sunshine|light rain|heavy rain|thunderstorms?|sonnig\w*|bewölkt\w*|regnerisch\w*|regnet|schneit|klarer himmel"
    r"|bedeckt|windig|neblig|heiter\w*|stürmisch\w*|sonnenschein|leichter regen|gewitter)"
)
_WEATHER_CLAIM = re.compile(
    rf"\b(?:is|it's|are|be|currently|now|today|expect\w*|shows?|with|looks?|conditions?|weather|ist|es|aktuell|derzeit"
    rf"|momentan|heute|wird|wetter|bei|herrscht|there's)\b.*\b{_CONDITIONS}\b|^\W*(?:\w+\s)?{_CONDITIONS}\b"
    r"|\b(?:weather|temperature|outside|wetter|temperatur|draußen)\b.{0,30}\b(?:is|ist|are|feels|mostly)\b.{0,20}"
    r"\b(?:warm|hot|cold|mild|fine|nice|lovely|pleasant|good|clear|dry|kalt|heiß|schön|gut|klar|trocken|angenehm)\b"
    r"|\b(?:humidity|winds?|precipitation|luftfeuchtigkeit|windgeschwindigkeit|niederschlag\w*)\b[^?]{0,30}\d"
)
_NO_WEATHER = re.compile(
    r"\?|\b(?:if|whether|ob|falls|wenn|eg|for example|for instance|such as|zb|zum beispiel|beispielsweise|can't|cannot"
    r"|could not|couldn't|unable|nicht|don't know|do not know|once|sobald|no)\b"
)


def claims_weather(text: str) -> bool:
    """Whether the text says what the weather is; questions, examples and conditions do not."""
    return any(
        (_TEMPERATURE.search(clause) or _WEATHER_CLAIM.search(clause)) and not _NO_WEATHER.search(clause)
        for clause in _clauses(text)
    )


_FAILURE = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ure|ing)?|unavailable|unreachable|unable|unsuccessful|problem|outage|offline|went wrong"
    r"|down|crashed|(?:not|\w+n't) (?:\w+\s+)?(?:available|working|reachable|responding|respond|possible|work|able"
    r"|successful|get|fetch)|could(?:n't| not)|can(?:'t|not)|issues?|trouble"
    r"|fehler\w*|fehlgeschlagen|schlug fehl|gescheitert|störung|ausgefallen|ausfall|problem\w*|schiefgegangen|schief"
    r"|(?:antwortet|reagiert|geht|funktioniert) nicht"
    r"|nicht (?:\w+\s+){0,3}(?:verfügbar|erreichbar|abruf\w*|abgerufen|möglich|ermittel\w*|funktioniert|antwortet|laden"
    r"|geladen|geklappt|zur verfügung|holen|beantworten)|leider (?:nicht|keine?n?))\b"
)


def tells_failure(text: str) -> bool:
    """Whether the text says that a tool failed, with or without its code, and does not report any weather anyway."""
    return any(_FAILURE.search(clause) for clause in _clauses(text)) and not claims_weather(text)


# ------------------------------------------------------------------------------------------------ questions

_PLACE = (
    r"(?:cit(?:y|ies)|towns?|locations?|places?|area|region|country|zip(?: code)?|postal code|postcode|address"
    r"|whereabouts|destination|coordinates|spot|village)"
)
_ORT = (
    r"(?:(?:groß|heimat|wunsch)?stadt|städte|orte?s?|standorts?|wohnort\w*|region|ortschaft|gegend|land|postleitzahl|plz"
    r"|gemeinde|adresse|ortsangabe|stadtname\w*|ortsname\w*|koordinaten)"
)
_OTHER = re.compile(r"\b(?:another|other|else|more cities|andere[nrs]?|weitere[nrs]?)\b")
_ASKED_VERB = (
    r"(?:tell|provide|specify|give|share|enter|name|let me know|say|include|mention|supply|state|indicate|clarify|type"
    r"|send|pick|choose|add|confirm|fill in|reply with|missing|lack(?:s|ing)?|need(?:s|ed)?|requires?d?|know)"
)
_FIRST_PERSON = r"(?<!\bi )(?<!\bi'll )(?<!\bi will )(?<!\bi can )(?<!\blet me )(?<!\bwe )(?<!\bhappy to )"
_OWN_NEED = (
    r"(?:need|require|am missing|'m missing|lack|don't know|do not know|don't have|do not have|want to know|must know)"
)
_ASKS = _one_of(
    rf"\b(?:which|what|whose)\b[^?]{{0,40}}\b{_PLACE}\b",
    r"\bwhere\b[^?]*\?|\b(?:for|from) where\b",
    rf"\b(?:could|can|would|may|will|do|did|are|should|shall|is|have)\b[^?]*\b{_PLACE}\b[^?]*\?",
    # "tell me the city" asks; "I will tell you", "let me tell you" do not
    rf"{_FIRST_PERSON}\b{_ASKED_VERB}\b(?!\s+you\b)[^?]{{0,60}}\b(?:{_PLACE}|where)\b",
    rf"\b(?:i|we)(?:'ll|'d)?(?:\s+\w+)?\s*{_OWN_NEED}\b[^?]{{0,50}}\b(?:{_PLACE}|where)\b",
    rf"\b(?:no|without(?: a| the| any)?|missing)\s+(?:\w+\s+)?{_PLACE}\b",
    rf"\b{_PLACE}\b[^?]{{0,20}}\b(?:please|is (?:missing|needed|required)|was not|wasn't|not (?:given|specified))",
    rf"\b(?:did not|didn't|haven't|have not|forgot to)\b[^?]{{0,30}}\b(?:{_PLACE}|where)\b|^\W*{_PLACE}\s*\?",
    rf"\bwelche[nrms]?\b[^?]{{0,30}}\b{_ORT}\b|\bwas für ein\w*\s+{_ORT}\b",
    r"\bwo\b[^?]*\?|\bfür wo\b|\bwo genau\b",
    r"\b(?:können|könnten|könnte|kannst|könntest|würden|würdest|möchten|möchtest|magst|soll|darf|gibt es)\b"
    rf"[^?]*\b{_ORT}\b[^?]*\?",
    r"\b(?:bitte|nenn\w*|sag(?:e|en|st)?|gib|geben|gebt|teil\w*|brauche|benötige|benötigt|fehlt|fehlen|wissen|weiß"
    rf"|schick\w*|ohne|verrat\w*|kein(?:e|en)?|angabe|schreib\w*)\b[^?]{{0,60}}\b(?:{_ORT}|wo)\b",
    rf"\b{_ORT}\b[^?]{{0,40}}\b(?:angeben|nennen|mitteilen|sagen|fehlt|wissen|benötigt|verraten|bitte|angegeben|genannt"
    r"|brauche)\b",
    rf"^\W*{_ORT}\s*\?",
)


def asks_for_place(text: str) -> bool:
    """Whether the text asks for the place that the weather is wanted for, and does not report some weather instead."""
    if claims_weather(text):
        return False
    asked = [clause for clause in _clauses(text) if not _OTHER.search(clause)]
    return any(_ASKS.search(clause) for clause in asked)


# ----------------------------------------------------------------------------------------------------- JSON


def fault_of_json(text: str, wanted: Mapping[str, Any], *, values: bool = True) -> str:
    """What is wrong with a text that must be bare JSON with these values, or just these fields; empty when nothing is.

    A number may come as text and a text in other letter case: the mode promises JSON, not types.
    """
    try:
        value = parse_json(text)
    except NotJson:
        return "the answer is not JSON"
    if not isinstance(value, dict):
        return "the answer is JSON, but not an object"
    same = _same_value if values else lambda given, _: given is not None
    wrong = [key for key, expected in wanted.items() if not same(value.get(key), expected)]
    return f"wrong or missing in the JSON: {', '.join(wrong)}" if wrong else ""


def _same_value(given: Any, wanted: Any) -> bool:
    if isinstance(given, bool) or given is None:
        return False
    if isinstance(given, (int, float)) and isinstance(wanted, (int, float)):
        return given == wanted
    return unicodedata.normalize("NFKC", str(given)).strip().casefold() == str(wanted).casefold()
