"""`python -m toolcert`: the same as the command `toolcert`."""

from __future__ import annotations

from toolcert.cli.main import main

if __name__ == "__main__":
    main()
