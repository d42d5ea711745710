"""Audit a trained network: what the theory of representation cost and rank says about it.

MODEL is a state dict in a .safetensors or .pt file, read as a chain of affine maps with one
homogeneous activation between them (ReLU, leaky ReLU, identity), or such a chain in an .onnx file;
batch normalisation after an affine map is folded into it. The data are the points at which
Jacobians and kernels are taken: a row for each, in an .npy, .npz, .csv or .safetensors file.
Without data, only what the weights alone say is measured.

Theorems whose hypotheses the network meets are evaluated on it. They are proved, so one that fails
shows a file that was misread, or a bug of rankcheck. A network that is no chain is measured in
Python, by `rankcheck.measure(module, X)`.

Parameters do not tell the activations between the layers. Name them with --slope (0 is ReLU), or
give with --outputs what your model puts out at the points, which tells the network as read from
others; without either, ReLU is assumed, and the first line and the exit code say so. They also do
where names of layers speak of skip connections, until outputs agree.

Exit codes: 0 done, also where a theorem is undecided, which is a matter of rounding; 1 a theorem
fails; 2 wrong input, such as a layer that is not supported; 3 done, but the activations, or
that the network is a chain, were assumed; 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankcheck import files
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import (
    JsonFile,
    add_json,
    check_apart,
    number,
)
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import readable, say, width_of

if TYPE_CHECKING:
    from rankcheck.audit.result import Audit
    from rankcheck.faces.terminal.audit import AuditDisplay

HELP = "what the theory says about a trained network"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rankcheck audit`."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="a file")
    parser.add_argument(
        "--data", metavar="FILE", type=Path, help="points: .npy, .npz, .csv or .safetensors"
    )
    parser.add_argument(
        "--outputs",
        metavar="FILE",
        type=Path,
        help="what your model puts out at the points: the network as read is compared with it "
        "before anything is measured",
    )
    add_json(parser, "the audit")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the audit as a page")
    parser.add_argument(
        "--slope",
        metavar="A",
        type=number(lambda a: -1 < a <= 1, "it lies in (-1, 1), or is 1: the identity"),
        help="of the activations for negative numbers, where MODEL does not say it; 0 is ReLU, 1 "
        "the identity (default: ReLU is assumed, and the exit code is 3)",
    )
    parser.add_argument(
        "--part",
        metavar="PREFIX",
        help="of a MODEL that holds several networks, the beginning of the names of one of them",
    )
    parser.add_argument("--device", default="cpu", help="of the points: cpu (default) or cuda")


def run(args: argparse.Namespace) -> int:
    """Audit the network, show and write the result; returns the exit code."""
    report = JsonFile(args, "an audit", "schema", "model", "layers", "theorems")
    _check(args, report.path)
    stream = report.stream
    from rankcheck.faces.terminal.audit import AuditDisplay, lines

    with AuditDisplay(sys.stderr) as display:
        try:
            result = _audit(args, display)
        except KeyboardInterrupt:
            display.interrupted()
            raise
    for line in lines(result, width=width_of(stream), readable=partial(readable, stream=stream)):
        say(line, stream)
    report.write(result.to_json())
    if report.path is not None:
        say(f"audit: {report.path}", stream)
    if args.html is not None:
        from rankcheck.faces.report.audit import audit_page

        files.write_text(args.html, audit_page(result))
        say(f"page: {args.html}", stream)
    if any(one.finding == "fails" for one in result.theorems):
        return Exit.REFUTED
    return Exit.UNDECIDED if result.model.is_assumed else Exit.EXPECTED


def _check(args: argparse.Namespace, report: Path | None) -> None:
    """Check the files that are to be written, before anything is imported.

    Raises:
        InputError: one cannot be written, or is named twice.
    """
    if args.html is not None:
        files.check_writable(args.html, "a page of rankcheck")
    if args.outputs is not None and args.data is None:
        raise InputError("--outputs needs --data: outputs are compared at the points of the data")
    outputs = None if args.outputs == args.data else args.outputs  # an archive may hold both
    check_apart([args.model, args.data, outputs, args.html, report])


def _audit(args: argparse.Namespace, display: AuditDisplay) -> Audit:
    """The audit that the arguments ask for."""
    from rankcheck.audit import audit

    return audit(
        args.model,
        args.data,
        device=args.device,
        slope=args.slope,
        part=args.part,
        outputs=args.outputs,
        progress=display.progress,
    )
