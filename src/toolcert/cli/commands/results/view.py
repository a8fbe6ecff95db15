"""`toolcert view`: runs in the browser."""

from __future__ import annotations

import contextlib
import time

import click

from toolcert.cli.support.click_options import SettingsCommand, use
from toolcert.cli.support.exit import echo, warn
from toolcert.core.errors import ExitCode
from toolcert.settings import Settings
from toolcert.settings.options import names
from toolcert.settings.options.view import SERVE


@click.command(cls=SettingsCommand, short_help="Look at runs in the browser: live, searchable, case by case.")
@click.argument("places", nargs=-1, metavar="[FOLDER|RUN|URL]...")
@use(*names(SERVE))
def view(places: tuple[str, ...], settings: Settings) -> int:
    """Look at runs in the browser: live, searchable, case by case.

    Each place is a run, a folder of runs, `latest`, or the address of a run; without one it is toolcert-runs. The
    viewer serves this machine alone, opens the browser, and writes nothing but the marks that you set. Ctrl-C ends it.

    \b
    toolcert view                                        all runs below toolcert-runs
    toolcert view corvid kestrel                         two runs, side by side
    toolcert view --no-browser --port 8230               print the address, for a tunnel
    """  # noqa: D301 - click reads the backspace as "keep these lines as they are"
    from toolcert.view.guard import is_loopback_host
    from toolcert.view.viewer import Viewer

    viewer = Viewer(
        *places,
        host=settings.host,
        port=settings.port,
        password=settings.view_password,
        prices=settings.config.prices,
    )
    with viewer:
        if not is_loopback_host(settings.host):
            warn("other machines can reach the viewer, and nothing on the way is encrypted; a tunnel is safer.")
        echo(f"The viewer is open: {viewer.first_address}")
        echo("Ctrl-C ends it.", err=True)
        if settings.browser:
            import webbrowser

            webbrowser.open(viewer.first_address)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)
    return ExitCode.OK
