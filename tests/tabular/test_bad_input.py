"""What is no real number, no valid index or no object of the right kind is refused by name, and never used."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import bad_numbers
import gymnasium as gym
import numpy as np
import pytest
from scipy import sparse

from pyresac.errors import InputError
from pyresac.tabular import (
    CressieReadBall,
    EnsembleVariance,
    EntropicRisk,
    FiniteMDP,
    IntervalSet,
    KLBall,
    L1Ball,
    LiveOperator,
    Mellowmax,
    NormPenalty,
    PolicyMean,
    RenyiBall,
    RevOperator,
    Soft,
    WorstOfKernels,
    empirical_modulus,
    ensemble_variance,
    families,
    solve,
    solve_s_rectangular,
)
from pyresac.tabular.exact import ExactMDP, ExactRev
from pyresac.tabular.solvers import METHODS
from pyresac.tabular.tabular_learner import LearnerOptions, TabularLearner

KERNEL = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
REWARD = np.array([[1.0, 0.0], [0.0, 2.0]])
MDP = FiniteMDP.from_arrays(KERNEL, REWARD, 0.9)
LESS = FiniteMDP.from_arrays(KERNEL, REWARD, 0.9, available=[[True, False], [True, True]])
HALF = Fraction(1, 2)
EXACT = ExactMDP((((HALF, HALF), (0, 1)), ((0, 1), (1, 0))), ((1, 0), (0, 2)), HALF)


def with_index(value: int) -> sparse.csr_array:
    rows = sparse.csr_array(KERNEL.reshape(4, 2))
    rows.indices[0] = value
    return rows


@pytest.mark.parametrize("given", bad_numbers.NUMBERS.values(), ids=bad_numbers.NUMBERS)
@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("discount", lambda x: MDP.with_discount(x)),
        ("order", lambda x: RenyiBall(0.1, x)),
        ("lambda_epi", lambda x: RevOperator(MDP, lambda_epi=x)),
        ("kappa", lambda x: RevOperator(MDP, kappa=x)),
        ("tolerance", lambda x: solve(RevOperator(MDP), tolerance=x)),
        ("temperature", Soft),
        ("omega", Mellowmax),
        ("lam", NormPenalty),
        ("radius", lambda x: IntervalSet.around(MDP, x)),
        ("slip", lambda x: families.grid(3, 0.9, slip=x)),
        ("arrival", lambda x: families.queue(3, 0.9, arrival=x)),
    ],
)
def test_a_number_is_a_real_number_and_no_boolean(name: str, use: Callable[[object], object], given: object) -> None:
    with pytest.raises(InputError, match=f"{name} is "):
        use(given)


@pytest.mark.parametrize("spoil", bad_numbers.ARRAYS.values(), ids=bad_numbers.ARRAYS)
@pytest.mark.parametrize(
    ("name", "array", "use"),
    [
        ("transition", KERNEL, lambda x: FiniteMDP.from_arrays(x, REWARD, 0.9)),
        ("reward", REWARD, lambda x: FiniteMDP.from_arrays(KERNEL, x, 0.9)),
        ("epistemic", REWARD, lambda x: RevOperator(MDP, epistemic=x)),
        ("initial", REWARD, lambda x: solve(RevOperator(MDP), initial=x)),
        ("policy", REWARD, PolicyMean),
        ("radius", REWARD, L1Ball),
        ("radius", REWARD, KLBall),
        ("beta", REWARD, EntropicRisk),
        ("counts", KERNEL, lambda x: FiniteMDP.from_counts(x, REWARD, 0.9)),
        ("lower", KERNEL, lambda x: IntervalSet(x, KERNEL).bound_to(MDP)),
        ("transition", KERNEL, lambda x: RevOperator(MDP, expectation=WorstOfKernels([x]))),
        ("Q", REWARD, RevOperator(MDP)),
        ("Q", REWARD, LiveOperator(MDP, NormPenalty(0.1))),
        ("heads", KERNEL, ensemble_variance),
    ],
)
def test_an_array_holds_real_numbers(
    name: str, array: np.ndarray, use: Callable[[object], object], spoil: Callable[[np.ndarray], object]
) -> None:
    with pytest.raises(InputError, match=f"{name} is not an array of numbers"):
        use(spoil(array))


@pytest.mark.parametrize("mdp", [MDP, LESS], ids=["all actions", "fewer actions"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_one_number_of_a_start_that_is_not_finite(mdp: FiniteMDP, bad: float, method: str) -> None:
    """At each available pair it is refused by its place; where no action is, it changes nothing."""
    plain = solve(RevOperator(mdp), initial=REWARD, method=method)
    for s, a in np.ndindex(REWARD.shape):
        table = REWARD.copy()
        table[s, a] = bad
        if mdp.available is None or mdp.available[s, a]:
            with pytest.raises(
                InputError, match=rf"initial(\[{s}, {a}\] is {bad}| is {bad} at \(s={s}, a={a}\)); .*finite"
            ):
                solve(RevOperator(mdp), initial=table, method=method)
        else:
            np.testing.assert_array_equal(solve(RevOperator(mdp), initial=table, method=method).q, plain.q)


@pytest.mark.parametrize("index", [7, -1])
def test_sparse_indices_out_of_range_are_refused_before_any_kernel_reads_them(index: int) -> None:
    for use in (
        lambda x: FiniteMDP.from_arrays(x, REWARD, 0.9),
        lambda x: FiniteMDP.from_counts(x, REWARD, 0.9),
        lambda x: IntervalSet(x, x).bound_to(MDP),
    ):
        with pytest.raises(InputError, match="is no valid sparse matrix"):
            use(with_index(index))


def test_a_mask_that_allows_everything_hides_no_infinite_reward(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"reward\[0, 1\] is inf"):
        FiniteMDP.from_arrays(KERNEL, [[0.0, np.inf], [0.0, 0.0]], 0.9, available=np.ones((2, 2), dtype=bool))
    path = tmp_path / "infinite.csv"
    path.write_text("idstatefrom,idaction,idstateto,probability,reward\n0,0,0,1,inf\n")
    with pytest.raises(InputError, match=r"reward\[0, 0\] is inf"):
        FiniteMDP.load(path, 0.9)


@pytest.mark.parametrize("make", [lambda mdp: IntervalSet.around(mdp, 0.1), lambda mdp: WorstOfKernels([mdp.dense()])])
def test_a_set_bound_to_fewer_actions_is_checked_again(make: Callable[[FiniteMDP], IntervalSet]) -> None:
    bound = RevOperator(LESS, expectation=make(LESS)).expectation
    with pytest.raises(InputError, match=r"row \(s=0, a=1\)"):
        RevOperator(MDP, expectation=bound)


@pytest.mark.parametrize("options", [{"mdp": KERNEL}, {"value": "max"}, {"value": Soft}, {"expectation": 3}])
def test_an_operator_is_made_of_instances(options: dict[str, object]) -> None:
    (name,) = options
    with pytest.raises(InputError, match=f"{name} is .*; it must be an instance of"):
        RevOperator(**{"mdp": MDP, **options})
    with pytest.raises(InputError, match="penalty is the class NormPenalty"):
        LiveOperator(MDP, NormPenalty)


def test_shapes_of_tables_are_those_of_the_mdp() -> None:
    with pytest.raises(InputError, match=r"Q has shape \(3, 2\); the MDP asks for \(2, 2\)"):
        RevOperator(MDP)(np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"first.* is nan"):
        empirical_modulus(RevOperator(MDP), np.full((2, 2), np.nan), REWARD)


def test_moduli_are_measured_over_the_available_pairs() -> None:
    operator = RevOperator(LESS)
    assert empirical_modulus(operator, operator(REWARD), operator(REWARD + 1.0)) == pytest.approx(0.9, rel=1e-12, abs=0)


@pytest.mark.parametrize("heads", [1, 2.5, "2", True])
def test_heads_are_a_whole_number_of_at_least_two(heads: object) -> None:
    with pytest.raises(InputError, match="heads"):
        EnsembleVariance(0.1, heads)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"idstatefrom,idaction,idstateto,probability,reward\n0,0,99999999999999999999,1,0\n", "whole numbers from 0"),
        (b"idstatefrom,idaction,idstateto,probability,reward\ninf,0,0,1,0\n", "whole numbers from 0"),
    ],
)
def test_csv_files_that_are_no_table_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        FiniteMDP.load(path, 0.9)


def test_archives_with_any_byte_flipped_are_refused_or_read(tmp_path: Path) -> None:
    MDP.save(tmp_path / "mdp.npz")
    whole = (tmp_path / "mdp.npz").read_bytes()
    refused = 0
    for position in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        path = tmp_path / "damaged.npz"
        path.write_bytes(damaged)
        try:
            FiniteMDP.load(path)
        except InputError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2], "is not of the form"),
        ({}, "is not of the form"),
        ({0: {0: [(1.0, 1, 0.0)]}}, "is not of the form"),
        ({0: {0: [(1.0, 7, 0.0, False)]}, 1: {0: [(1.0, 1, 0.0, True)]}}, "names a successor outside 0…1"),
    ],
)
def test_transition_tables_of_another_form_are_refused(table: object, message: str) -> None:
    class Odd(gym.Env[int, int]):
        observation_space = gym.spaces.Discrete(2)
        action_space = gym.spaces.Discrete(1)
        P = table

    with pytest.raises(InputError, match=message):
        FiniteMDP.from_gymnasium(Odd(), 0.9)
    with pytest.raises(InputError, match="env is a int"):
        FiniteMDP.from_gymnasium(3, 0.9)


def test_the_exact_twin_takes_no_floats_and_no_other_shape() -> None:
    operator = ExactRev(EXACT)
    with pytest.raises(InputError, match=r"0\.5 is a float"):
        operator(((0.5, 0.5), (0.5, 0.5)))
    with pytest.raises(InputError, match="Q has 1 rows"):
        operator(((HALF,),))
    with pytest.raises(InputError, match="available has 2 rows of lengths"):
        ExactMDP(EXACT.transition, EXACT.reward, HALF, ((True,), (True,)))
    with pytest.raises(InputError, match="mdp is a FiniteMDP; it must be an ExactMDP"):
        ExactRev(MDP)


def test_the_learner_refuses_states_and_actions_that_it_has_not() -> None:
    learner = TabularLearner(2, 2, LearnerOptions(), 0)
    with pytest.raises(InputError, match=r"state = 5; this learner has 0…1"):
        learner.act(5)
    with pytest.raises(InputError, match=r"action = 9; this learner has 0…1"):
        learner.update(0, 9, 0.0, 0, terminated=False)
    with pytest.raises(InputError, match=r"next_state = -1"):
        learner.update(0, 0, 0.0, -1, terminated=False)
    with pytest.raises(InputError, match="MiB of memory or more"):
        TabularLearner(2, 2, LearnerOptions(ensemble_size=10**15), 0)
    with pytest.raises(InputError, match=r"ensemble_size = 2\.5; it must be an integer"):
        LearnerOptions(ensemble_size=2.5)


def test_the_kl_ball_keeps_its_bound_where_rows_have_tiny_entries() -> None:
    """With p = (1 − t, t) and v = (1, −1) the worst row puts q on −1, where KL((1 − q, q)‖p) is the radius."""
    for exponent in range(-300, -100, 7):
        for q in (0.3, 0.5, 0.7):
            tiny = 10.0**exponent
            radius = (1 - q) * np.log1p(-q) + q * (np.log(q) - np.log(tiny))
            mdp = FiniteMDP.from_arrays(np.array([[[1.0, tiny]]] * 2), np.zeros((2, 1)), 0.9, renormalise=True)
            ball = KLBall(float(radius))
            # The radius itself is rounded: q moves by u·radius/log(1/tiny), about one rounding, and v by 2.
            slack = 8 * 2.0**-53
            found = ball(mdp, np.array([1.0, -1.0]))[0, 0]
            assert abs(found - (1 - 2 * q)) <= 0.1 * ball.rounding(mdp, 1.0) + slack
            assert ball(mdp, np.array([1e-318, -1e-318]))[0, 0] == pytest.approx((1 - 2 * q) * 1e-318, abs=2e-323)


def test_a_method_that_is_no_name_and_a_folder_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"method is \['auto'\]; it must be one of"):
        solve(RevOperator(MDP), method=["auto"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is not a folder; make it before saving"):
        MDP.save(tmp_path / "missing" / "mdp.npz")
    with pytest.raises(InputError, match="radius is"):
        IntervalSet.around(MDP, np.zeros((2, 2)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": -0.1}, "radius is -0.1"),
        ({"radius": np.nan}, "radius"),
        ({"radius": [0.1, 0.2, 0.3]}, r"radius has shape \(3,\); expected a number or \(2,\)"),
        ({"radius": 0.1, "norm": "l2"}, "norm is 'l2'; it must be 'l1' or 'linf'"),
        ({"radius": 0.1, "optimistic": 1}, "optimistic is 1; it must be True or False"),
        ({"radius": 0.1, "tolerance": -1.0}, "tolerance is -1.0"),
        ({"radius": 0.1, "max_iterations": 0}, "max_iterations is 0"),
    ],
)
def test_one_budget_a_state_takes_what_it_says(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve_s_rectangular(MDP, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [1.0, 0.5, -2.0, 1.001, 101.0, np.inf, np.nan])
def test_orders_of_power_divergences_are_bounded(order: float) -> None:
    with pytest.raises(InputError, match=r"order is .*; it must be in \[1.01, 100\]"):
        CressieReadBall(0.1, order)
