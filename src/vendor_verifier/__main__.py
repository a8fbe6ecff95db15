"""`python -m vendor_verifier`."""

from vendor_verifier.cli import main

if __name__ == "__main__":
    main()
