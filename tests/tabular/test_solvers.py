"""`solve`: every method on every family, its bounds, how it ends, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pyresac.errors import InputError, NotAContractionError
from pyresac.tabular import families, workers
from pyresac.tabular.checks import Floats
from pyresac.tabular.exact import ExactRev
from pyresac.tabular.expectations import (
    EntropicRisk,
    ExpectationFunctional,
    IntervalSet,
    KLBall,
    L1Ball,
    Nominal,
    WorstOfKernels,
)
from pyresac.tabular.live import EnsembleDeviation, EnsembleVariance, LiveOperator, NormPenalty, ScaledPenalty
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.solvers import METHODS, Solution, solve
from pyresac.tabular.values import Max, Mellowmax, Min, PolicyEntropy, PolicyMean, Soft, ValueFunctional

GENERAL = [method for method in ["auto", *METHODS] if method != "gauss_seidel"]
FAMILIES = {
    "dense": families.random_dense(12, 3, 0.9, seed=1),
    "sparse": families.random_sparse(400, 3, 5, 0.95, seed=1),
    "grid": families.grid(20, 0.98),
    "queue": families.queue(350, 0.99),
    "chain": families.chain(5, 0.95),
    "one state": families.random_dense(1, 3, 0.5, seed=0),
    "one action": families.random_sparse(30, 1, 3, 0.9, seed=2),
    "no future": families.random_dense(5, 3, 0.0, seed=0),
}


def gap(operator: RevOperator, first: Solution, second: Solution) -> float:
    """‖q₁ − q₂‖∞ over available pairs."""
    return operator.distance(first.q, second.q)


def random_policy(mdp: FiniteMDP) -> Floats:
    """A stochastic policy (S, A)."""
    return np.random.default_rng(5).dirichlet(np.ones(mdp.n_actions), size=mdp.n_states)


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.parametrize("value", [Max(), Min()])
def test_all_methods_agree_within_their_bounds_and_on_the_policy(
    family: str, method: str, value: ValueFunctional
) -> None:
    operator = RevOperator(FAMILIES[family], value=value)
    tight = solve(operator, tolerance=0.0, method="policy_iteration")
    solution = solve(operator, tolerance=1e-7, method=method)
    assert solution.converged, solution.message
    assert solution.error_bound <= 1e-7
    assert gap(operator, solution, tight) <= solution.error_bound + tight.error_bound
    np.testing.assert_array_equal(solution.policy, tight.policy)
    np.testing.assert_array_equal(solution.v, operator.value_of(solution.q))


@pytest.mark.parametrize("penalty_at", ["pair", "next"])
@pytest.mark.parametrize("expectation", [Nominal(), L1Ball(0.3), KLBall(0.1), EntropicRisk(1.0)])
@pytest.mark.parametrize("kind", ["max", "min", "soft", "mellowmax", "mean", "entropy"])
def test_every_functional_is_solved_by_every_general_method(
    kind: str, expectation: ExpectationFunctional, penalty_at: str
) -> None:
    mdp = families.random_sparse(15, 3, 4, 0.9, seed=3)
    policy = random_policy(mdp)
    value = {
        "max": Max(),
        "min": Min(),
        "soft": Soft(0.5),
        "mellowmax": Mellowmax(2.0),
        "mean": PolicyMean(policy),
        "entropy": PolicyEntropy(policy, 0.3),
    }[kind]
    epistemic = np.random.default_rng(0).random(mdp.reward.shape)
    operator = RevOperator(
        mdp, epistemic=epistemic, lambda_epi=0.4, kappa=0.1, value=value, expectation=expectation, penalty_at=penalty_at
    )
    answers = [solve(operator, tolerance=1e-8, method=method) for method in GENERAL]
    for answer in answers:
        assert answer.converged, answer.message
        assert gap(operator, answer, answers[0]) <= answer.error_bound + answers[0].error_bound
        assert operator.distance(operator(answer.q), answer.q) <= 2 * answer.error_bound + operator.rounding(100.0)
        np.testing.assert_array_equal(answer.policy, answers[0].policy)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_unavailable_pairs_stay_out(method: str) -> None:
    rng = np.random.default_rng(3)
    available = rng.random((40, 4)) < 0.5
    available[np.arange(40), rng.integers(4, size=40)] = True
    source = families.random_sparse(40, 4, 3, 0.9, seed=3)
    mdp = FiniteMDP.from_arrays(source.transition, source.reward, 0.9, available=available)
    for value in (Max(), Min()):
        operator = RevOperator(mdp, value=value, epistemic=rng.random((40, 4)), lambda_epi=2.0, penalty_at="next")
        solution = solve(operator, method=method)
        assert solution.converged
        assert np.isneginf(solution.q[~available]).all()
        assert available[np.arange(40), solution.policy].all()
        assert operator.distance(operator(solution.q), solution.q) <= 3 * solution.error_bound + 1e-12


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_dense_and_csr_agree(method: str) -> None:
    dense = RevOperator(FAMILIES["dense"])
    mdp = dense.mdp
    csr = RevOperator(FiniteMDP.from_arrays(mdp.matrix, mdp.reward, mdp.discount))
    assert csr.mdp.is_sparse
    assert not mdp.is_sparse
    first, second = (solve(operator, method=method) for operator in (dense, csr))
    assert gap(dense, first, second) <= first.error_bound + second.error_bound
    np.testing.assert_array_equal(first.policy, second.policy)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_exact_ties_go_to_the_lowest_action(method: str) -> None:
    """Actions 1 and 2 are copies of the best; 3 is a copy with its successors summed in another order."""
    rng = np.random.default_rng(0)
    kernel = rng.dirichlet(np.ones(6), size=6)
    transition = np.stack([np.roll(kernel, 1, axis=0), kernel, kernel, kernel], axis=1)
    reward = np.stack([np.full(6, -5.0), np.ones(6), np.ones(6), np.ones(6)], axis=1)
    mdp = FiniteMDP.from_arrays(transition, reward, 0.9, renormalise=True)
    np.testing.assert_array_equal(solve(RevOperator(mdp), method=method).policy, np.ones(6))


def test_near_ties_below_the_bound_go_to_the_lowest_action() -> None:
    mdp = FiniteMDP.from_arrays(np.ones((1, 2, 1)), [[1.0, np.nextafter(1.0, 2.0)]], 0.5)
    assert solve(RevOperator(mdp)).policy[0] == 0
    apart = FiniteMDP.from_arrays(np.ones((1, 2, 1)), [[1.0, 1.0 + 1e-6]], 0.5)
    assert solve(RevOperator(apart), tolerance=1e-9).policy[0] == 1


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_huge_and_tiny_rewards(method: str, scale: float) -> None:
    mdp = FAMILIES["dense"]
    plain = solve(RevOperator(mdp), tolerance=1e-6, method=method)
    scaled = solve(RevOperator(mdp.replace(reward=mdp.reward * scale)), tolerance=scale * 1e-6, method=method)
    assert scaled.converged, scaled.message
    assert np.abs(scaled.q / scale - plain.q).max() <= 2.1e-6


def test_values_beyond_float64_are_refused() -> None:
    mdp = FiniteMDP.from_arrays(np.ones((1, 1, 1)), [[1e308]], 0.99)
    with pytest.raises(InputError, match="overflow float64"):
        solve(RevOperator(mdp))


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_an_uncertifiable_tolerance_is_said_and_not_looped_over(method: str) -> None:
    operator = RevOperator(families.grid(8, 0.999))
    solution = solve(operator, tolerance=1e-16, method=method)
    assert not solution.converged
    assert "below what float64 can certify" in solution.message or "rounding has stopped" in solution.message
    assert 1e-16 < solution.error_bound < 1e-8


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_the_bound_holds_when_iterations_run_out(method: str) -> None:
    operator = RevOperator(FAMILIES["grid"])
    tight = solve(operator, tolerance=0.0)
    solution = solve(operator, tolerance=1e-10, method=method, max_iterations=1)
    assert not solution.converged
    assert solution.iterations == 1
    assert "max_iterations = 1 is reached" in solution.message
    assert gap(operator, solution, tight) <= solution.error_bound + tight.error_bound


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_starting_at_the_answer_ends_at_once(method: str) -> None:
    operator = RevOperator(FAMILIES["sparse"])
    tight = solve(operator, tolerance=0.0)
    again = solve(operator, method=method, initial=tight.q)
    assert again.converged
    assert again.iterations == 1


def test_zero_reward_is_solved_exactly() -> None:
    mdp = FAMILIES["dense"]
    solution = solve(RevOperator(mdp.replace(reward=np.zeros(mdp.reward.shape))))
    assert not solution.q.any()
    assert solution.error_bound < 1e-300


def test_the_bound_holds_in_exact_arithmetic_where_rounding_is_all_there_is() -> None:
    """One state, reward 1/10, γ = 0.9: Q* = fl(1/10)/(1 − fl(0.9)), in rationals."""
    mdp = FiniteMDP.from_arrays(np.ones((1, 1, 1)), [[0.1]], 0.9)
    exact = Fraction(0.1) / (1 - Fraction(0.9))
    for method in METHODS:
        solution = solve(RevOperator(mdp), tolerance=0.0, method=method)
        assert abs(Fraction(float(solution.q[0, 0])) - exact) <= Fraction(solution.error_bound)
        assert solution.error_bound < 1e-13


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = RevOperator(families.random_sparse(301, 3, 5, 0.95, seed=4))
    alone = solve(operator, method="modified_policy_iteration")
    monkeypatch.setattr(workers, "THREADED_ENTRIES", 1)
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda _: range(3), raising=False)
    together = solve(operator, method="modified_policy_iteration")
    np.testing.assert_array_equal(alone.q, together.q)
    assert alone.error_bound == together.error_bound


def test_auto_looks_at_the_structure() -> None:
    assert solve(RevOperator(families.queue(5000, 0.9))).method == "policy_iteration"
    assert solve(RevOperator(FAMILIES["chain"])).method == "policy_iteration"
    assert solve(RevOperator(families.grid(30, 0.9))).method == "modified_policy_iteration"
    mdp = families.random_sparse(1200, 2, 3, 0.9, seed=0)
    assert solve(RevOperator(mdp, expectation=L1Ball(0.1))).method == "modified_policy_iteration"
    assert solve(RevOperator(mdp, expectation=L1Ball(0.1), value=Soft(0.1))).method == "anderson"


@pytest.mark.parametrize("penalty", [ScaledPenalty(0.1), NormPenalty(0.1), EnsembleVariance(0.1), EnsembleDeviation(1)])
def test_live_penalties_are_refused_with_the_theorem(penalty: ScaledPenalty) -> None:
    with pytest.raises(NotAContractionError, match=r"C1[3-6], RESAC\.\w+.*C11, RESAC\.rev_contraction"):
        solve(LiveOperator(FAMILIES["dense"], penalty))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1.0}, "tolerance is -1.0; it must be a finite number of at least 0"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"method": "newton"}, "method is 'newton'; it must be one of 'auto', 'value_iteration'"),
        ({"max_iterations": 0}, "max_iterations is 0; it must be a whole number of at least 1"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5"),
        ({"max_iterations": True}, "max_iterations is True"),
        ({"initial": np.zeros((2, 2))}, r"initial has shape \(2, 2\); expected \(12, 3\)"),
        ({"initial": np.full((12, 3), np.inf)}, r"initial\[0, 0\] is inf"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(RevOperator(FAMILIES["dense"]), **options)


def test_what_is_not_an_operator_is_refused() -> None:
    with pytest.raises(InputError, match="operator is a FiniteMDP; solve takes a RevOperator"):
        solve(FAMILIES["dense"])


@pytest.mark.parametrize(
    ("value", "expectation"),
    [
        (Soft(1.0), Nominal()),
        (Max(), L1Ball(0.1)),
        (Min(), KLBall(0.1)),
        (Max(), WorstOfKernels([FAMILIES["dense"].dense()])),
    ],
    ids=["another value", "a set by rows", "another set by rows", "another set"],
)
def test_gauss_seidel_says_what_it_takes(value: ValueFunctional, expectation: ExpectationFunctional) -> None:
    """Whichever model there is of the operator."""
    names = f"{type(value).__name__} with {type(expectation).__name__}"
    with pytest.raises(InputError, match=f"{names} does not offer; allowed are Max and Min with Nominal"):
        solve(RevOperator(FAMILIES["dense"], value=value, expectation=expectation), method="gauss_seidel")


@pytest.mark.parametrize("expectation", [Nominal(), L1Ball(0.1)])
def test_a_value_of_ones_own_is_solved_or_refused_by_name(expectation: ExpectationFunctional) -> None:
    """The median of three actions is monetary, too."""

    class OnesOwn(ValueFunctional):
        lean = ""

        def __call__(self, q: Floats, available: np.ndarray | None = None) -> Floats:
            return np.median(q, axis=1)

        def rounding(self, magnitude: float, n_actions: int) -> float:
            return 0.0

    operator = RevOperator(FAMILIES["dense"], value=OnesOwn(), expectation=expectation)
    for method in ("policy_iteration", "modified_policy_iteration"):
        with pytest.raises(InputError, match="policy evaluation knows no weights for OnesOwn: use method='anderson'"):
            solve(operator, method=method)
    for method in ("anderson", "value_iteration"):
        solution = solve(operator, method=method)
        assert solution.converged
        np.testing.assert_array_equal(solution.v, np.median(solution.q, axis=1))


@pytest.mark.parametrize("method", ["gauss_seidel", "modified_policy_iteration"])
@pytest.mark.parametrize("seed", range(6))
def test_a_state_that_has_settled_does_not_make_sweeps_in_place_diverge(method: str, seed: int) -> None:
    """The residual is exactly 0 at one state: half its span is half its size, the edge at which a shift is taken."""
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet(np.ones(3), size=(3, 1))
    kernel[0] = [1.0, 0.0, 0.0]
    mdp = FiniteMDP.from_arrays(kernel, rng.normal(size=(3, 1)), 0.9999, renormalise=True)
    solution = solve(RevOperator(mdp), tolerance=1e-6, method=method)
    assert solution.converged, solution.message


@pytest.mark.parametrize("method", ["policy_iteration", "modified_policy_iteration"])
def test_evaluations_under_a_worst_case_may_pass_through_a_larger_residual(method: str) -> None:
    """Near γ = 1 the first evaluation enlarges the residual; undoing it would leave steps that gain 1 − γ each."""
    kernel = np.array([[[0.25, 0.25, 0.5]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]])
    discount = 1 - 1e-9 if method == "policy_iteration" else 1 - 1e-4
    mdp = FiniteMDP.from_arrays(kernel, [[-10.7], [-5.3], [-8.8]], discount)
    operator = RevOperator(mdp, expectation=KLBall(0.1), value=PolicyMean([[1.0], [1.0], [1.0]]))
    solution = solve(operator, tolerance=0.0, method=method, max_iterations=1000)
    assert solution.iterations < 1000, solution.message
    assert "float64 can certify" in solution.message


@pytest.mark.parametrize("discount", [2.0**-60, 1e-3])
def test_the_bound_counts_the_rounding_of_the_last_backup_itself(discount: float) -> None:
    """At a small γ the residual says next to nothing: what is left is the rounding of q = R + γ(E v − frozen)."""
    for seed in range(5):
        mdp = families.random_dense(3, 2, discount, seed)
        solution = solve(RevOperator(mdp), tolerance=0.0)
        exact = ExactRev(mdp.to_exact()).fixed_point()
        error = max(abs(Fraction(float(solution.q[s, a])) - exact[s][a]) for s in range(3) for a in range(2))
        assert 0 < error <= Fraction(solution.error_bound)


CYCLES = [
    ([[[0, 1], [0, 0]], [[1, 1], [1, 0]], [[0, 0], [2, 0]]], [[3.0, -2.0], [-1.0, -1.0], [0.0, -1.0]]),
    ([[[0, 2], [0, 0]], [[0, 1], [1, 1]], [[2, 1], [2, 0]]], [[-1.0, -2.0], [-1.0, 3.0], [-3.0, -2.0]]),
    ([[[0, 1], [0, 0]], [[2, 2], [0, 2]], [[1, 0], [0, 1]]], [[3.0, -1.0], [-1.0, -3.0], [2.0, 0.0]]),
]
"""Games in which player and adversary, each answering the other's last choice, go round for ever: at each pair the
adversary sends to one of two states."""


@pytest.mark.parametrize("method", ["policy_iteration", "modified_policy_iteration"])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("game", range(len(CYCLES)))
def test_alternating_best_answers_cycle_where_the_solver_does_not(game: int, mirrored: bool, method: str) -> None:
    """Mirrored: costs are minimised against the best case of the set, which is as much of a game."""
    places, rewards = CYCLES[game]
    ends, reward, discount = np.array(places), np.array(rewards), 0.9
    states = np.arange(len(ends))

    def answer(v: np.ndarray) -> np.ndarray:
        worst = v[ends].argmin(axis=2)
        action = (reward + discount * v[ends].min(axis=2)).argmax(axis=1)
        matrix = np.eye(len(ends))[ends[states, action, worst[states, action]]]
        return np.linalg.solve(np.eye(len(ends)) - discount * matrix, reward[states, action])

    v = np.zeros(len(ends))
    for _ in range(20):
        v = answer(v)
    visited = [v]
    for _ in range(20):
        visited.append(answer(visited[-1]))
    apart = [np.abs(x - v).max() for x in visited]
    assert apart[1] > 1e-3, "alternation has come to rest: this is no cycle"
    assert min(apart[2:]) < 1e-9, "alternation has not come back"
    upper = np.zeros((len(ends), 2, len(ends)))
    np.put_along_axis(upper, ends, 1.0, axis=2)
    sign = -1.0 if mirrored else 1.0
    mdp = FiniteMDP.from_arrays(upper / upper.sum(axis=2, keepdims=True), sign * reward, discount)
    box = IntervalSet(np.zeros_like(upper), upper, optimistic=mirrored)
    operator = RevOperator(mdp, value=Min() if mirrored else Max(), expectation=box)
    for start in visited[:4]:
        initial = sign * np.repeat(start[:, None], 2, axis=1)
        solution = solve(operator, tolerance=1e-9, method=method, initial=initial)
        assert solution.converged, solution.message
        reference = solve(operator, tolerance=1e-11, method="value_iteration")
        assert np.abs(solution.q - reference.q).max() <= solution.error_bound + reference.error_bound


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("expectation", [Nominal(), L1Ball(0.1)])
def test_a_minimum_over_costs_is_the_mirror_image_of_a_maximum(method: str, expectation: ExpectationFunctional) -> None:
    """Bit for bit, on a problem with an absorbing state of no cost near γ = 1: neither of them is favoured."""
    if method == "gauss_seidel" and not isinstance(expectation, Nominal):
        pytest.skip("sweeps in place are nominal")
    rng = np.random.default_rng(0)
    kernel, cost = rng.dirichlet(np.full(12, 0.3), size=(12, 2)), rng.integers(1, 5, size=(12, 2)).astype(float)
    kernel[-1], kernel[-1, :, -1], cost[-1] = 0.0, 1.0, 0.0
    mdp = FiniteMDP.from_arrays(kernel, cost, 0.999, renormalise=True)
    mirror = L1Ball(0.1, optimistic=True) if isinstance(expectation, L1Ball) else expectation
    least = solve(RevOperator(mdp, value=Min(), expectation=mirror), tolerance=1e-9, method=method)
    most = solve(RevOperator(mdp.replace(reward=-mdp.reward), expectation=expectation), tolerance=1e-9, method=method)
    np.testing.assert_array_equal(least.q, -most.q)
    assert least.error_bound == most.error_bound
    if isinstance(expectation, Nominal):
        assert abs(least.q[-1]).max() <= least.error_bound
