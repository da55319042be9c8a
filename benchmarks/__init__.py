"""Measurements at the size of a large cluster; nothing here is part of the product."""
