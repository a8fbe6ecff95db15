"""Draw what a command prints as an SVG picture for the documentation.

python scripts/picture.py docs/images/demo.svg 41 demo   the first 41 lines of `toolcert demo`

The picture names no font file: it is shown with whatever monospaced font the reader has.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

COLUMNS = 100
PAPER, INK, GREY = (24, 27, 30), (233, 235, 237), (139, 146, 154)
RED, GREEN, YELLOW, BLUE, VIOLET = (244, 140, 112), (87, 194, 178), (232, 182, 83), (147, 182, 255), (183, 165, 245)
HUES = [RED, GREEN, YELLOW, BLUE, VIOLET, GREEN]
THEME = TerminalTheme(PAPER, INK, [PAPER, *HUES, INK], [GREY, *HUES, INK])
TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" class="terminal" viewBox="0 0 {width} {height}" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>\
</clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="#181b1e"/>
<g transform="translate({terminal_x}, 16)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def main(picture: str, lines: str, *words: str) -> int:
    shown = Console(record=True, width=COLUMNS, file=io.StringIO())
    shown.print(Text.from_ansi("\n".join(_printed(*words).split("\n")[: int(lines)])))
    shown.save_svg(picture, title=" ".join(words), theme=THEME, code_format=TEMPLATE, unique_id="t")
    return 0


def _printed(*words: str) -> str:
    """The command's standard output, coloured as on a terminal, from an empty folder."""
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    program = Path(sys.executable).with_name("toolcert")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, *words], env=environment, cwd=folder, stdout=subprocess.PIPE, check=True)
    return f"\x1b[2m$\x1b[0m toolcert {' '.join(words)}\n\n{done.stdout.decode()}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
