"""Reports as one self-contained page each: no network, no external asset, readable without scripts."""
