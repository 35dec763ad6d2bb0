"""From rows to counts: half, columns, first, stable, flip, pairs. Only counters are held."""
