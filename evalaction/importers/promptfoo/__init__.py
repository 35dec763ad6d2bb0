"""promptfooconfig.yaml → exam, prompts and card. Meanings follow the sources of github.com/promptfoo/promptfoo, July 2026."""

from evalaction.importers.promptfoo.config import convert

__all__ = ["convert"]
