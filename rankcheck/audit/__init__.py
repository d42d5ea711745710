"""Audit: what the theory says about a network that someone trained.

What lives here: models and data are read, the quantities of the theory are measured layer by layer
and point by point, and the claims that apply are evaluated. May import everything below, the
executors of `hunt` among it; how an audit is shown is `terminal` and `report`.
"""
