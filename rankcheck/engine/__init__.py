"""Engine: what looks for a counterexample, decides whether it is one, and keeps it.

What lives here: `verification` of many claims, `hunt` of one, what is known of one violation
(`counterexamples`), the best ratios (`records`), and processes (`parallel`).
May import: `theory`, `balls`, `claims`.
"""
