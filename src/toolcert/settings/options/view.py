"""Options of the viewer: where it listens, who may look, and whether a run opens it."""

from __future__ import annotations

from toolcert.settings.option import Option, Switch, Text, Whole

_VIEW = "Viewer"

SERVE: tuple[Option, ...] = (
    Option(
        name="host",
        group=_VIEW,
        kind=Text("ADDRESS"),
        default="127.0.0.1",
        in_file=False,
        help="Address to listen on; one that other machines can reach needs a password.",
    ),
    Option(
        name="port",
        group=_VIEW,
        kind=Whole(0, 65535),
        help="Port to listen on, 0 for a free one (otherwise 8230, or a free one if that is in use).",
    ),
    Option(
        name="view-password",
        group=_VIEW,
        kind=Text("PASSWORD"),
        secret=True,
        help="Password of the viewer, at least 8 characters; better given in TOOLCERT_VIEW_PASSWORD.",
    ),
    Option(
        name="browser",
        group=_VIEW,
        kind=Switch(),
        default=True,
        help="Open the browser; --no-browser only prints the address.",
    ),
)
VIEW: tuple[Option, ...] = (
    *SERVE,
    Option(
        name="view",
        group="Run",
        kind=Switch(),
        default=False,
        in_file=False,
        help="Show the run in the browser while it is made.",
    ),
)
