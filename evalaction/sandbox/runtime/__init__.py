"""What runs inside the box: modules that import nothing but the standard library and each other."""
