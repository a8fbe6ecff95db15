"""`python -m toolcert`, and the command `toolcert`."""

from __future__ import annotations

import sys


def main() -> None:
    """Start the command; Ctrl-C while its modules are still being imported ends it without a traceback."""
    try:
        from toolcert.cli.main import main as run_command

        run_command()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
