"""Runs of one card over time: what makes them comparable, intervals whose unit is the item, drift, and two runs paired."""
