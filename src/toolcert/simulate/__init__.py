"""An endpoint that behaves like a faithful or a faulty vendor, over real HTTP."""

from toolcert.simulate.vendor import Vendor

__all__ = ["Vendor"]
