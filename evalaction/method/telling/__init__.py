"""From the verdict to the report object and its sentences."""
