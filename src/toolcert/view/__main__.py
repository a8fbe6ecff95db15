"""The viewer beside a run: `python -m toolcert.view FOLDER RUN [quiet]`, until its standard input ends."""

from __future__ import annotations

import sys
import webbrowser

from toolcert.core.errors import ToolcertError
from toolcert.settings.config import load_config
from toolcert.view.viewer import Viewer


def main(place: str, run: str, *quiet: str) -> None:
    """Serve the runs at a place, print the address that opens one of them, and wait."""
    with Viewer(place, prices=load_config(None).prices) as viewer:
        address = viewer.address_of(run)
        print(address, flush=True)  # noqa: T201 - the starting process reads it
        if not quiet:
            webbrowser.open(address)
        sys.stdin.read()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ToolcertError as error:
        sys.exit(str(error))
