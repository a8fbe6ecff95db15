"""An endpoint that behaves like a faithful or a faulty vendor, over real HTTP."""
