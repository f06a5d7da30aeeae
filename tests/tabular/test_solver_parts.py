"""The compiled kernels against plain NumPy, the rounding bounds against rationals, the affine systems."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pyresac import memory
from pyresac.errors import InputError
from pyresac.tabular import affine_kernels, checks, families, solve
from pyresac.tabular.mdp import FiniteMDP
from pyresac.tabular.operator import RevOperator
from pyresac.tabular.shares import OneProcess, Share
from pyresac.tabular.solvers import systems
from pyresac.tabular.solvers.certificate import Certificate, Residual, Rounding, round_up, to_float
from pyresac.tabular.solvers.models import ExtremeModel, GeneralModel, Model
from pyresac.tabular.solvers.progress import Progress
from pyresac.tabular.solvers.systems import AffineSystem
from pyresac.tabular.values import Max, Min, PolicyMean, Soft


def small_operator(*, sign: int = 1, penalty_at: str = "next", masked: bool = True) -> RevOperator:
    rng = np.random.default_rng(8)
    source = families.random_sparse(25, 3, 4, 0.9, seed=8)
    available = rng.random((25, 3)) < 0.7
    available[:, 1] = True
    mdp = FiniteMDP.from_arrays(source.transition, source.reward, 0.9, available=available if masked else None)
    return RevOperator(
        mdp, value=Max() if sign > 0 else Min(), epistemic=rng.random((25, 3)), lambda_epi=0.7, kappa=0.2,
        penalty_at=penalty_at,
    )  # fmt: skip


def as_dense(operator: RevOperator) -> RevOperator:
    mdp = operator.mdp
    dense = FiniteMDP.from_arrays(mdp.dense(), mdp.reward, mdp.discount, available=mdp.available)
    return RevOperator(
        dense, value=operator.value, epistemic=operator.seen(np.zeros(mdp.reward.shape)) * -1, lambda_epi=1.0,
        kappa=operator.kappa, penalty_at="next",
    )  # fmt: skip


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("masked", [True, False])
def test_sweeps_agree_with_the_operator(sign: int, masked: bool) -> None:
    operator = small_operator(sign=sign, masked=masked)
    v = np.random.default_rng(1).normal(size=25)
    for model in (ExtremeModel(operator), ExtremeModel(as_dense(operator)), GeneralModel(operator)):
        residual = model.sweep(v)
        expected = operator.backup(v)
        np.testing.assert_allclose(model.q, expected, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(model.image, operator.value_of(expected), rtol=1e-14, atol=1e-14)
        assert residual.low == (model.image - v).min()
        assert residual.high == (model.image - v).max()
        assert residual.v_size == np.abs(v).max()
        assert residual.q_size == np.abs(model.q[np.isfinite(model.q)]).max()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("backward", [True, False])
def test_sweeps_in_place_solve_each_state_in_turn(sign: int, backward: bool) -> None:
    operator = small_operator(sign=sign)
    mdp = operator.mdp
    expected = np.random.default_rng(1).normal(size=25)
    start = expected.copy()
    kernel, offset = mdp.dense(), -operator.seen(np.zeros((25, 3)))
    assert mdp.available is not None
    for s in reversed(range(25)) if backward else range(25):
        found = []
        for a in np.flatnonzero(mdp.available[s]):
            others = kernel[s, a] @ expected - kernel[s, a, s] * expected[s]
            total = operator.shifted_reward[s, a] - offset[s, a] + mdp.discount * others
            found.append(total / (1 - mdp.discount * kernel[s, a, s]))
        expected[s] = max(found) if sign > 0 else min(found)
    for model in (ExtremeModel(operator), ExtremeModel(as_dense(operator))):
        v = start.copy()
        largest, changed = model.in_place_sweep(v, backward=backward)
        np.testing.assert_allclose(v, expected, rtol=1e-13, atol=1e-13)
        assert largest == pytest.approx(np.abs(expected - start).max())
        assert changed == 25


def test_rows_of_the_policy_are_patched_as_it_changes() -> None:
    operator = small_operator()
    rng = np.random.default_rng(2)
    model, fresh = ExtremeModel(operator), GeneralModel(operator)
    for solve_loops in (False, False, True, True, False):
        v = 3 * rng.normal(size=25)
        model.sweep(v)
        fresh.sweep(v)
        patched, anew = (m.system(v, solve_loops=solve_loops) for m in (model, fresh))
        np.testing.assert_allclose(patched.matrix.toarray(), anew.matrix.toarray(), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(patched.rhs, anew.rhs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [ExtremeModel, GeneralModel])
def test_systems_agree_with_the_backup_where_they_were_made(make: type[Model]) -> None:
    operator = small_operator()
    v = np.random.default_rng(3).normal(size=25)
    model = make(operator)
    model.sweep(v)
    out = np.empty(25)
    low, high = model.system(v, solve_loops=False).apply(v, out)
    np.testing.assert_allclose(out, model.image, rtol=1e-13, atol=1e-13)
    assert (low, high) == ((out - v).min(), (out - v).max())


@pytest.mark.parametrize("width", [0, 1, 3, 8])
def test_banded_elimination(width: int) -> None:
    rng = np.random.default_rng(width)
    n = 40
    band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width
    weights = rng.random((n, n)) * band
    matrix = 0.99 * weights / weights.sum(axis=1, keepdims=True)
    system = AffineSystem.of(sparse.csr_array(matrix), np.zeros(n))
    assert affine_kernels.bandwidth(system.indptr, system.indices, 1, 10) == width
    residual = rng.normal(size=n)
    expected = np.linalg.solve(np.eye(n) - matrix, residual)
    np.testing.assert_allclose(system.correction(residual, 1e-10), expected, rtol=1e-11)


def test_bandwidth_stops_counting_at_the_limit() -> None:
    system = AffineSystem.of(sparse.csr_array(np.full((9, 9), 0.1)), np.zeros(9))
    assert affine_kernels.bandwidth(system.indptr, system.indices, 1, 4) == 5


@pytest.mark.parametrize("side", [20, 40])
def test_corrections_beyond_the_band(side: int) -> None:
    """Dense elimination at 400 states, Krylov at 1600."""
    mdp = families.grid(side, 0.9)
    matrix = sparse.csr_array(0.9 * mdp.matrix[::4])
    residual = np.random.default_rng(0).normal(size=side * side)
    delta = AffineSystem.of(matrix, residual).correction(residual, 1e-12)
    np.testing.assert_allclose(delta - matrix @ delta, residual, atol=1e-9)


def test_relaxation_reaches_the_solution_from_both_directions() -> None:
    mdp = families.grid(12, 0.9)
    system = AffineSystem.of(sparse.csr_array(0.9 * mdp.matrix[::4]), mdp.reward[:, 0]).without_loops()
    v = np.zeros(144)
    assert system.relax(v, 0.0, 3, backward=True) is False
    system.relax(v, 1e-13, 500, backward=False)
    np.testing.assert_allclose(system.rhs + system.matrix @ v, v, atol=1e-11)
    assert not system.matrix.diagonal().any()


def exact_backup(operator: RevOperator, v: np.ndarray) -> list[list[Fraction]]:
    """B v of a pair-form operator in rationals, rows divided by their exact sums."""
    mdp = operator.mdp
    kernel, out = mdp.dense(), []
    gamma = Fraction(mdp.discount)
    for s in range(mdp.n_states):
        row = []
        for a in range(mdp.n_actions):
            p = [Fraction(float(x)) for x in kernel[s, a]]
            mean = sum((x * Fraction(float(y)) for x, y in zip(p, v, strict=True)), Fraction(0)) / sum(p)
            row.append(Fraction(float(mdp.reward[s, a])) + gamma * (mean - Fraction(operator.kappa)))
        out.append(row)
    return out


@pytest.mark.parametrize("kappa", [0.0, 0.1])
@pytest.mark.parametrize("scale", [1e-310, 1.0, 1e12])
@pytest.mark.parametrize("dense", [True, False])
def test_rounding_of_the_fused_backup_is_bounded(dense: bool, scale: float, kappa: float) -> None:
    for seed in range(20):
        mdp = families.random_dense(9, 2, 0.95, seed) if dense else families.random_sparse(9, 2, 5, 0.95, seed)
        operator = RevOperator(mdp.replace(reward=mdp.reward * scale), kappa=kappa)
        v = np.random.default_rng(seed).normal(size=9) * scale
        model = ExtremeModel(operator)
        residual = model.sweep(v)
        bound = Fraction(Rounding(operator, fused=True).backup(residual.v_size, residual.q_size))
        exact = exact_backup(operator, v)
        error = max(abs(Fraction(float(model.q[s, a])) - exact[s][a]) for s in range(9) for a in range(2))
        assert error <= bound
        assert bound <= Fraction(operator.rounding(max(residual.v_size, residual.q_size)) + 1e-319)


def test_the_interval_is_that_of_macqueen_and_porteus() -> None:
    """γ = 1/2, one state, v = 0, reward 1: W0 − 0 = 1, so Q* = B0 + γ·1/(1 − γ) = 2, and the middle is exact."""
    operator = RevOperator(FiniteMDP.from_arrays(np.ones((1, 1, 1)), [[1.0]], 0.5))
    model = ExtremeModel(operator)
    residual = model.sweep(np.zeros(1))
    low, high = model.certificate.interval(residual)
    assert low < 1 < high
    assert high - low < Fraction(1, 10**14)
    shift, bound = model.certificate.bound(residual, 1e-12)
    assert shift == 1.0
    assert model.q[0, 0] + shift == 2.0
    assert 0 < bound < 1e-14
    assert model.certificate.bound(residual, 2.0)[0] == 0.0


def test_round_up_never_rounds_down() -> None:
    third = Fraction(1, 3)
    assert Fraction(round_up(third)) >= third
    assert round_up(third) == np.nextafter(1 / 3, 1) or Fraction(1 / 3) >= third
    assert round_up(Fraction(1, 2)) == 0.5
    assert Fraction(round_up(Fraction(2, 3))) >= Fraction(2, 3)
    assert round_up(Fraction(10) ** 400) == np.inf


def test_a_fraction_beyond_float64_keeps_its_sign() -> None:
    assert [to_float(sign * Fraction(10) ** 400) for sign in (1, -1)] == [np.inf, -np.inf]
    assert to_float(Fraction(-1, 3)) == -1 / 3


def test_a_bound_beyond_float64_is_infinite() -> None:
    operator = RevOperator(families.random_dense(3, 2, 0.9999, seed=0))
    certificate = Certificate(operator, fused=True)
    assert certificate.bound(Residual(1e306, 2e306, 1.0, 1.0, 0), 1.0) == (0.0, np.inf)


class FixedRounding:
    """e_B = 2⁻¹⁰ and e_V = 2⁻¹², whatever the sizes."""

    def backup(self, v_size: float, q_size: float) -> float:
        """e_B."""
        return 2.0**-10

    def value(self, q_size: float) -> float:
        """e_V."""
        return 2.0**-12


def test_every_term_of_a_backup_s_rounding_counts() -> None:
    """1.02(γ(5 + 1)u·|v| + γ·row_error·|v| + u·|q|), the frozen term's own rounding, and underflow."""
    mdp = families.random_sparse(9, 2, 5, 0.75, seed=0)
    assert mdp.longest_row == 5
    plain, taxed = (Rounding(RevOperator(mdp, kappa=kappa), fused=True) for kappa in (0.0, 0.1))
    nothing = plain.backup(0.0, 0.0)
    assert nothing == 4.0 * (5 + 2 + 8) * 2.0**-1074
    u = 2.0**-53
    assert plain.backup(1.0, 0.0) == pytest.approx(1.02 * 0.75 * (6 * u + mdp.row_error), rel=1e-12, abs=0.0)
    assert plain.backup(0.0, 1.0) == pytest.approx(1.02 * u, rel=1e-12, abs=0.0)
    assert taxed.backup(1.0, 1.0) - plain.backup(1.0, 1.0) == pytest.approx(
        RevOperator(mdp, kappa=0.1).rounding(0.0), rel=1e-6, abs=0
    )
    # what underflows is lost whichever way, where nothing else is
    still = RevOperator(mdp.replace(reward=np.zeros((9, 2))))
    assert Rounding(still, fused=False).backup(0.0, 0.0) == Rounding(still, fused=True).value(0.0) == nothing
    # where the sweep is not the compiled one the operator's own bound counts
    operator = RevOperator(mdp, kappa=0.1)
    assert Rounding(operator, fused=False).backup(2.0, 3.0) == operator.rounding(2.0) + nothing


def test_every_term_of_a_value_s_rounding_counts() -> None:
    """Three roundings of what is read, penalty included, then the value functional's own on it."""
    mdp = families.random_dense(3, 2, 0.75, seed=0)
    for value in (Max(), Soft(0.5)):
        read = RevOperator(mdp, epistemic=np.full((3, 2), 8.0), lambda_epi=0.5, penalty_at="next", value=value)
        at_pair = RevOperator(mdp, epistemic=np.full((3, 2), 8.0), lambda_epi=0.5, value=value)
        seen = 1.01 * (2.0 + 4.0)
        expected = 3 * 2.0**-53 * seen + value.rounding(seen, 2)
        assert Rounding(read, fused=True).value(2.0) == pytest.approx(expected, rel=1e-12, abs=1e-300)
        assert Rounding(at_pair, fused=True).value(2.0) == pytest.approx(
            value.rounding(1.01 * 2.0, 2), rel=1e-12, abs=1e-300
        )


def test_every_term_of_a_certificate_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """γ = 3/4, so γ/(1 − γ) = 3; the residual, its last bit, e_B, e_V and the rounding of the shift, in fractions."""
    certificate = Certificate(RevOperator(families.random_dense(3, 2, 0.75, seed=0)), fused=True)
    monkeypatch.setattr(certificate, "_rounding", FixedRounding())
    e_b, e_w, ulp = Fraction(1, 2**10), Fraction(5, 2**12), Fraction(1, 2**52)
    residual = Residual(low=1.0, high=1.5, v_size=1.0, q_size=2.0**44, changed=0)
    low, high = 3 * (1 - ulp / 2 - e_w) - e_b, 3 * (Fraction(3, 2) + ulp + e_w) + e_b
    assert certificate.interval(residual) == (low, high)
    assert Fraction(certificate.floor(residual)) == e_b + 3 * e_w + Fraction(1, 2**9)
    assert certificate.estimate(residual) == 0.75 + certificate.floor(residual)
    shift, bound = certificate.bound(residual, 0.0)
    assert shift == float((low + high) / 2)
    size = 2**44 + Fraction(shift)
    assert bound == round_up(max(high - Fraction(shift), Fraction(shift) - low) + size / 2**52)
    assert certificate.bound(residual, float(round_up(high))) == (0.0, round_up(high))
    below = Residual(low=-1.5, high=-1.0, v_size=1.0, q_size=1.0, changed=0)
    assert certificate.bound(below, 5.0) == (0.0, round_up(-certificate.interval(below)[0]))


def test_a_bound_covers_the_rounding_of_its_own_shift() -> None:
    """low = high, far from 0: next to nothing but the rounding of q + shift is left, and each end may be Q*."""
    certificate = Certificate(RevOperator(families.random_dense(3, 2, 0.9, seed=0)), fused=True)
    residual = Residual(low=1e6, high=1e6, v_size=1.0, q_size=1.0, changed=0)
    low, high = certificate.interval(residual)
    shift, bound = certificate.bound(residual, 0.0)
    assert shift != 0.0
    for q in np.random.default_rng(0).uniform(-1.0, 1.0, 1000):
        written = Fraction(float(q + shift))
        for end in (low, high):
            assert abs(written - Fraction(float(q)) - end) <= Fraction(bound)


def test_progress_stops_where_nothing_moves() -> None:
    operator = RevOperator(families.random_dense(3, 2, 0.5, seed=0))
    progress = Progress(Certificate(operator, fused=True), 1e-9, 0.5, None)
    stuck = Residual(low=-1e-3, high=1e-3, v_size=1.0, q_size=1.0, changed=0)
    steps = 0
    while not progress.finished(stuck):
        steps += 1
        assert steps < 100
    assert "rounding has stopped all progress" in progress.message


@pytest.mark.parametrize(
    ("size", "width", "way"), [(20, 8, "banded"), (20, 9, "dense"), (21, 8, "banded"), (21, 9, "iterative")]
)
def test_a_system_is_solved_in_the_way_that_its_size_asks_for(
    size: int, width: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bands of up to 8, then up to so many states at once; whichever way, the solution is one."""
    taken: list[str] = []

    def noted(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            taken.append(name)
            return plain(*given, **options)

        return call

    monkeypatch.setattr(systems, "LARGEST_DENSE", 20)
    monkeypatch.setattr(affine_kernels, "solve_banded", noted("banded", affine_kernels.solve_banded))
    monkeypatch.setattr(np.linalg, "solve", noted("dense", np.linalg.solve))
    monkeypatch.setattr(systems.linalg, "bicgstab", noted("iterative", systems.linalg.bicgstab))
    matrix = np.diag(np.full(size - width, 0.5), width)
    system = AffineSystem.of(sparse.csr_array(matrix), np.zeros(size))
    delta = system.correction(np.ones(size), 1e-12)
    assert taken == [way]
    np.testing.assert_allclose(delta, 1.0 + matrix @ delta, rtol=0, atol=1e-10)


@pytest.mark.parametrize("value", [Soft(0.5), PolicyMean(np.full((25, 3), 1 / 3))])
def test_systems_of_other_values_are_tangents(value: Soft | PolicyMean) -> None:
    """The affine system agrees with W at v and, for a linear value, everywhere; a soft value lies above it."""
    mdp = families.random_sparse(25, 3, 4, 0.9, seed=8)
    model = GeneralModel(RevOperator(mdp, value=value))
    v = np.random.default_rng(1).normal(size=25)
    model.sweep(v)
    system = model.system(v, solve_loops=False)
    other = v + np.random.default_rng(2).normal(size=25)
    model.sweep(other)
    tangent = system.rhs + system.matrix @ other
    if value.linear:
        np.testing.assert_allclose(tangent, model.image, atol=1e-13)
    else:
        assert (model.image >= tangent - 1e-13).all()
        assert (model.image > tangent + 1e-6).any()


def test_what_cannot_fit_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A solve, a family and the values of all states say what they need, and what is free."""
    mdp = families.random_sparse(20, 2, 3, 0.9, seed=0)
    mdp.save_folder(tmp_path / "model")
    share = Share.load(tmp_path / "model", OneProcess())
    monkeypatch.setattr(checks, "SMALL_MEMORY", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    message = r"needs \d+ MiB of memory or more; 0 MiB are free"
    with pytest.raises(InputError, match=rf"solving FiniteMDP\(20 states, .*\) {message}"):
        solve(RevOperator(mdp))
    with pytest.raises(InputError, match=rf"a model of 120 transitions {message}"):
        families.random_sparse(20, 2, 3, 0.9, seed=0)
    with pytest.raises(InputError, match=message):
        solve(RevOperator(share))


def test_nothing_that_is_not_penalised_takes_memory() -> None:
    """Without penalties the shifted reward is the reward, and zeros are one number; both cannot be written to."""
    mdp = families.chain(3, 0.9)
    for operator in (RevOperator(mdp), RevOperator(mdp, lambda_epi=2.0), RevOperator(mdp, penalty_at="next")):
        assert np.shares_memory(operator.shifted_reward, mdp.reward)
        assert operator.frozen.strides == operator.scaled.strides == (0, 0)
        for array in (operator.frozen, operator.scaled, operator.shifted_reward):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = 1.0
    assert not np.shares_memory(RevOperator(mdp, kappa=0.5).shifted_reward, mdp.reward)
