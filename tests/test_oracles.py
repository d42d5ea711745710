"""Every public function of the mathematics is compared with something that is not ours.

`@pytest.mark.oracle("rankcheck.room.function", "what it is compared with")` on a test says so. The
table of them is docs/oracles.md; `python tests/test_oracles.py > docs/oracles.md` writes it anew.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    "linalg",
    "networks",
    "costs",
    "regions",
    "separation",
    "data",
    "witnesses",
    "balls",
)

#: What a comparison with another library would not make sense for.
NONE_POSSIBLE = {
    "balls.balls": "makes balls of numbers",
    "balls.conventions": "a context in which other eigenvectors are chosen",
    "balls.is_ball": "tells the kind of an array",
    "balls.provably_leq": "says what is proved; tests/balls/test_guards.py",
    "balls.provably_less": "says what is proved; tests/balls/test_guards.py",
    "linalg.rank_gap": "a ratio of singular values to the threshold of this project",
    "linalg.rank_threshold": "the threshold of this project, a definition",
}
#: Functions that no test marks yet. Most are tested, against closed forms, sampling or exact
#: arithmetic; nobody has read these tests for whether they share code with the function. A function
#: leaves this list when a test is marked, and none is added.
NOT_YET = """
balls.exact balls.singular_values costs.balanced_factors costs.best_last_layer costs.best_scale
costs.descent_losses costs.distortion costs.effective_index_rank costs.effective_rank_bound
costs.effective_rank_threshold costs.effective_rank_threshold_as_printed costs.egop
costs.egop_root costs.excess costs.expansion_remainder costs.gradient_volume_bound
costs.index_rank costs.least_linear_layers_cost costs.linear_layers_cost costs.matching_loss
costs.offset_cost costs.offset_price costs.path_norm_lambda costs.phi_at costs.phi_certificate
costs.phi_lower costs.phi_upper costs.principal_directions costs.pull_back costs.sandwich
costs.scaled_schatten_power costs.secant_cost costs.second_order costs.singular_value_decay_bound
costs.split_along costs.split_losses costs.winning_depth costs.winning_threshold
costs.winning_threshold_by_gradients data.distances data.likely_length data.limiting_constant
data.nearest_neighbours data.serpentine data.serpentine_path networks.balance_layers
networks.balance_neurons networks.layer_imbalances networks.layer_rescaling
networks.lipschitz_square_above networks.neuron_imbalances networks.zigzag regions.highest_rank
separation.best_fit separation.correlations separation.cross_by_moments
separation.cross_by_quadrature separation.cross_inner_product separation.density_lower_bound
separation.depth_three_width separation.depth_two_width separation.diagonal_norms
separation.distance_lower_bound separation.distance_squared separation.even_moment
separation.example_tail separation.guaranteed_error separation.legendre_table separation.log_width
separation.main_lower_bound separation.monomials separation.multiplicity
separation.neuron_coefficients separation.neuron_norm_bound separation.neuron_second_moment
separation.neuron_supremum separation.norm_lower_bound separation.orthonormal_table
separation.plane_wave_coefficients separation.plane_wave_degrees separation.plane_wave_tails
separation.printed_norms separation.printed_width separation.quadrature separation.separable_gram
separation.separable_norms separation.sharper_width separation.sign_change_lower_bound
separation.sine_energy separation.sine_tail separation.slides_error separation.slides_error_like
separation.stereographic separation.tail_norm separation.width_as_on_the_slides
separation.width_as_printed separation.width_from_the_norm separation.width_rate
separation.zonal_by_moments separation.zonal_by_quadrature separation.zonal_inner_product
witnesses.add witnesses.affine witnesses.antipodal_bracket witnesses.antipodal_difference
witnesses.autoencoder witnesses.balanced_cone_network witnesses.bottleneck witnesses.cells_needed
witnesses.chained_frames witnesses.cheapest_heights witnesses.close witnesses.compose
witnesses.cone_network witnesses.conjugate witnesses.constant_network witnesses.cross
witnesses.cross_as_printed witnesses.cross_network witnesses.deepen witnesses.depth_three
witnesses.depth_three_cells witnesses.distinct_rays witnesses.equal_values
witnesses.homogeneous_form witnesses.identity_layers witnesses.inner_product_cells
witnesses.inner_product_network witnesses.interpolate witnesses.interpolate_cells
witnesses.interpolated_shares witnesses.inverse witnesses.largest_parameter
witnesses.last_bias_as_unit witnesses.leaky_representation witnesses.least_constant_cost
witnesses.least_depth witnesses.max_network witnesses.offset_identity witnesses.one_sided_frames
witnesses.pair_with_sum witnesses.planar_identity witnesses.plane_beside_constant witnesses.point
witnesses.points_on_a_line witnesses.progress_code witnesses.rank_one_interpolant
witnesses.scaled_seam witnesses.seam_cost_bound witnesses.seam_cost_estimate
witnesses.separating_direction witnesses.shear witnesses.shear_network witnesses.stack_kernels
witnesses.supremum_error witnesses.surviving_jacobians witnesses.tangent witnesses.translate
witnesses.two_dimensional_layers witnesses.two_sided_distances
""".split()  # noqa: SIM905 -- a long list of names


def public() -> set[str]:
    """The public functions, by room."""
    found = set()
    for room in ROOMS:
        module = importlib.import_module(f"rankcheck.{room}")
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
        ]
        found |= {f"{room}.{name}" for name in names if inspect.isfunction(getattr(module, name))}
    return found


def marked() -> list[tuple[str, str, str]]:
    """Function, oracle and test of each mark, read from the syntax trees."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                match mark:
                    case ast.Call(
                        func=ast.Attribute(attr="oracle"),
                        args=[ast.Constant(value=str(name)), ast.Constant(value=str(other))],
                    ):
                        test = f"{path.relative_to(ROOT).as_posix()}::{node.name}"
                        found.append((name.removeprefix("rankcheck."), other, test))
    return sorted(found)


def table() -> str:
    """The text of docs/oracles.md."""
    rows = [f"| `{name}` | {other} | `{test}` |" for name, other, test in marked()]
    without = [f"| `{name}` | {why} |" for name, why in sorted(NONE_POSSIBLE.items())]
    names = ", ".join(f"`{name}`" for name in sorted(NOT_YET))
    return "\n".join(
        [
            "<!-- Written by `python tests/test_oracles.py`, from the marks on the tests. -->",
            "# Oracles",
            "",
            "What the public functions of the mathematics are compared with that is not ours.",
            "",
            "| function | oracle | test |",
            "| --- | --- | --- |",
            *rows,
            "",
            "None is possible:",
            "",
            "| function | why |",
            "| --- | --- |",
            *without,
            "",
            f"No test is marked yet ({len(NOT_YET)}): {names}.",
            "",
        ]
    )


def test_every_public_function_has_an_oracle_or_a_reason():
    functions, named = public(), {name for name, _, _ in marked()}
    assert named <= functions, "a mark names what is no public function"
    reasons = {*NONE_POSSIBLE, *NOT_YET}
    assert functions - named - reasons == set(), "no test is marked with an oracle of these"
    assert reasons & named == set(), "these have an oracle; take them off the list"
    assert reasons <= functions, "these are no public functions any more"


def test_the_table_is_up_to_date():
    written = (ROOT / "docs" / "oracles.md").read_text(encoding="utf-8")
    assert written == table(), "run: python tests/test_oracles.py > docs/oracles.md"


if __name__ == "__main__":
    print(table(), end="")
