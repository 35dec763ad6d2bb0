"""What runs inside the box: candidate, check and the wire between them. Imports nothing but the standard library."""
