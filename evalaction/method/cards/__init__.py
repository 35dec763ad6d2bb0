"""From the text of a card to the records of `method.card`, with every rule that needs no exam."""
