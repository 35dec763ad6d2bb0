"""An honest verdict on a change to a prompt or to model routing, for pull requests."""

__version__ = "0.1.0"
