"""Networks that are no chain: what they compute, as a graph, and the blocks that they fall into.

What lives here: the graph that `torch.fx` traces (`graph`), what is known of each operation in it
(`kinds`, a file a kind of layer), linear maps that are never built as matrices (`linear_map`), the
blocks between the places that every path passes (`blocks`), and what is measured of all this.
No theorem is evaluated on such a network as a whole; the pages say of which parts something is
proved.
May import: `audit.model`, `audit.result` and what is below `audit`.
"""
