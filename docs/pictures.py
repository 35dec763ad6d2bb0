"""The two pictures of the README, made again from `evalaction demo`, after a change of what it prints:

    PYTHONPATH=tests .venv/bin/python docs/pictures.py

Needs a Chromium: on the path, or named in the variable CHROMIUM. The comment is parsed as GitHub's Markdown and dressed much as
GitHub dresses it, without its footer, which names the machine; the report is its first screen.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt
from support.browser import Browser, chromium, opened, started

FOLDER = Path(__file__).parent
_STYLE = """
body { margin: 0; padding: 20px 30px 8px; color: #1f2328; font: 16px/1.5 "Segoe UI", "Liberation Sans", sans-serif; }
h2, h3 { margin: 0 0 16px; font-size: 1.5em; line-height: 1.25; border-bottom: 1px solid #d1d9e0b3; padding-bottom: .3em; }
p, ul, table, blockquote, details { margin: 0 0 16px; }
li + li { margin-top: .25em; }
table { border-collapse: collapse; }
th, td { padding: 6px 13px; border: 1px solid #d1d9e0; }
tbody tr:nth-child(2n) { background: #f6f8fa; }
code { padding: .2em .4em; font: .85em "Liberation Mono", monospace; background: #818b981f; border-radius: 6px; }
blockquote { padding: 8px 16px; border-left: .25em solid #0969da; }
blockquote > :last-child { margin: 0; }
.note { color: #0969da; }
"""


def comment_page(markdown: str) -> str:
    """The comment as a page, with its alerts as GitHub shows them."""
    body = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(markdown.rpartition("<sub>")[0])
    body = body.replace("<p>[!NOTE]</p>", '<p class="note">Note</p>')
    return f"<!doctype html><meta charset=utf-8><title>comment</title><style>{_STYLE}</style>{body}"


def make(browser: Browser, run: Path, folder: Path) -> None:
    """Both pictures of the run."""
    page = run / "comment.html"
    page.write_text(comment_page((run / "comment.md").read_text(encoding="utf-8")), encoding="utf-8")
    with opened(browser, page, width=920, height=200) as tab:
        tab.screenshot(folder / "comment.png")
    with opened(browser, run / "report.html", width=1200, height=900) as tab:
        tab.screenshot(folder / "report.png", until="[data-section=halves]")


def main(folder: Path) -> None:
    program = chromium()
    if program is None:
        raise SystemExit("There is no Chromium here: install it, or name it in the variable CHROMIUM.")
    with tempfile.TemporaryDirectory(prefix="pictures-") as home, started(program) as browser:
        demo = Path(home) / "demo"
        subprocess.run([sys.executable, "-m", "evalaction", "demo", "--keep", str(demo)], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        make(browser, demo / "run", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
