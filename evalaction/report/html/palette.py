"""The colours of the page, light and dark. Ink on paper has a contrast of at least 4.5 : 1, marks at least 3 : 1."""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "paper": "#f7f6f3", "card": "#ffffff", "line": "#dedbd4", "soft": "#efede8",
    "ink": "#1c2227", "quiet": "#586069", "link": "#1a5a9e", "focus": "#1a5a9e",
    "pass": "#2a7754", "check": "#b62f2a", "contract": "#8f5d00", "unreached": "#6a4cab", "error": "#a12b76",
    "control": "#8a5a14", "treatment": "#1a5a9e",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "paper": "#14171a", "card": "#1c2024", "line": "#343a41", "soft": "#262b30",
    "ink": "#e6e8ea", "quiet": "#a3abb4", "link": "#85b8ee", "focus": "#85b8ee",
    "pass": "#5dbb8f", "check": "#f08078", "contract": "#dca948", "unreached": "#b39bef", "error": "#e883c0",
    "control": "#dfae6b", "treatment": "#85b8ee",
}  # fmt: skip


def declarations(colours: Mapping[str, str]) -> str:
    """As CSS custom properties."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())
