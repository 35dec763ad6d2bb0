"""GitHub as a platform: event, API, comment, workflow commands and files. Nothing here changes a verdict."""
