"""Networks with one input, one output and wide layers in between, for controls."""

from rankcheck.instances import Source, clear_of_boundaries, instances, network


@instances
def narrow_ended_networks(source: Source, *, slopes="any"):
    """Two or three layers from R to R through widths of two to four, at a point: rank at most one."""
    net = network(source, depth=(2, 3), width=(2, 4), inputs=1, outputs=1, slopes=slopes)
    x = source.tensor(1)
    return clear_of_boundaries(source, net, x), x
