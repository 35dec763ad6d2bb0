"""Trends and comparisons for readers: text, Markdown with a small chart, SVG and HTML, all from the same cells."""
