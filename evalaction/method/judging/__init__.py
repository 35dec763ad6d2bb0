"""From counts to the verdict: validity, the split-half sign, claims, limits."""
