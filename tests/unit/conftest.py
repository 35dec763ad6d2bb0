"""Property tests are judged by what they find, not by the load of the machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unit", deadline=None)
settings.load_profile("unit")
