"""Audit: what the theory says about a network that someone trained.

Models and data are read here, the quantities of the theory are measured layer by layer and point by
point, and the claims that apply are evaluated on them. Imports everything below, the executors of
`hunt` among them; how an audit is shown is `terminal` and `report`.
"""
