"""`python -m toolcert`, and the command `toolcert`."""

from __future__ import annotations

import gc
import sys

_COLLECT_AFTER = 50_000
"""Objects made before the collector looks for cycles: importing makes thousands of lasting ones and hardly a cycle."""


def main() -> None:
    """Start the command; Ctrl-C while its modules are still being imported ends it without a traceback."""
    gc.set_threshold(_COLLECT_AFTER)
    try:
        from toolcert.cli.main import main as run_command

        run_command()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    finally:
        gc.freeze()  # the process ends: what it holds is not worth a search for cycles


if __name__ == "__main__":
    main()
