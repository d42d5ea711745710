"""The pictures of the report.

What lives here: what is drawn of a sharpening and of an audit.
Quantities come from the rooms below; a picture computes none of its own.
May import: everything below `report`, and `report.svg`.
"""
