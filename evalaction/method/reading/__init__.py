"""Files that users wrote, read strictly: YAML 1.2 core and JSON with places, paths, shapes of secrets."""
