"""Faces: what a person types and sees.

What lives here: the verbs (`commands`), what they print (`terminal`), pages and drawings
(`report`), what others read of a refutation (`exports`), the plugin of pytest, and notebooks.
May import: everything.
"""
