"""Text that attacks whatever shows it: markup, quotes, addresses, directions, control characters, formulas."""

from __future__ import annotations

MARKUP = "<script>window.ran = 1</script></script></title></style><img src=x onerror='window.ran=1'>"
ADDRESS = "javascript:window.ran=1 [link](javascript:window.ran=1) http://leak.example/ @everyone"
TERMINAL = "\x1b[31mred\x1b]0;title\x07\x1b[2J\x00\x08\x9b1m\u202egnihtyna\u2066\u200f"
HOSTILE = f"=cmd|'/c calc'!A1 {MARKUP} \"'`&amp;|{{{{ 7*7 }}}} {{% if %}} {ADDRESS} {TERMINAL}\nsecond line"
SURROGATE = f"{HOSTILE}\ud800"
HUGE = HOSTILE + "x" * 1_000_000
