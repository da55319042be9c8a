"""Figures. Gaps stay gaps; times are UTC; colour never says anything alone; names are escaped for Plotly."""
