"""The report as one page: everything in it, nothing fetched, readable without its script."""
