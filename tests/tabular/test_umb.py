"""UMB files, written by `umbi` itself: what is read of them, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.solve import main
from pyresac.tabular import FiniteMDP

umbi = pytest.importorskip("umbi", reason="umbi is not installed: pip install 'pyresac[umb]'")


def model(*rewards: str) -> Any:
    """Three states: the first has two choices, the second one, the last none."""
    ats = umbi.ats.ExplicitAts()
    for _ in range(3):
        ats.add_state()
    ats.set_initial_states([0])
    ats.num_players = 0
    first, second, third = (ats.add_state_choice(state) for state in (0, 0, 1))
    first.add_branch(1, Fraction(1, 4))
    first.add_branch(2, Fraction(3, 4))
    second.add_branch(0, Fraction(1))
    third.add_branch(2, Fraction(1))
    for name in rewards:
        ats.add_reward_annotation(name)
    return ats


def written(ats: Any, folder: Path) -> Path:
    path = folder / "model.umb"
    umbi.ats.write(ats, path)
    return path


def test_a_model_with_rewards_of_every_kind(tmp_path: Path) -> None:
    ats = model("gain")
    gain = ats.get_reward_annotation("gain")
    gain.set_state_values([1.0, 10.0, 100.0])
    gain.set_choice_values([0.5, 0.25, 0.125])
    gain.set_branch_values([4.0, 8.0, 16.0, 32.0])
    mdp = FiniteMDP.load(written(ats, tmp_path), 0.9)
    np.testing.assert_array_equal(
        mdp.dense(), [[[0, 0.25, 0.75], [1, 0, 0]], [[0, 0, 1], [0, 0, 0]], [[0, 0, 1], [0, 0, 0]]]
    )
    np.testing.assert_array_equal(mdp.available, [[True, True], [True, False], [True, False]])
    np.testing.assert_array_equal(mdp.reward, [[1 + 0.5 + 7, 1 + 0.25 + 16], [10 + 0.125 + 32, 0], [100, 0]])
    np.testing.assert_array_equal(mdp.initial, [1, 0, 0])
    assert mdp.discount == 0.9
    ats.set_initial_states([0, 2])
    np.testing.assert_array_equal(FiniteMDP.load(written(ats, tmp_path), 0.9).initial, [0.5, 0, 0.5])


def test_without_rewards_all_are_zero_and_of_several_one_is_named(tmp_path: Path) -> None:
    from pyresac.tabular.readers import umb

    assert not FiniteMDP.load(written(model(), tmp_path), 0.9).reward.any()
    ats = model("gain", "cost")
    for name, level in (("gain", 1.0), ("cost", 2.0)):
        ats.get_reward_annotation(name).set_choice_values([level] * 3)
    path = written(ats, tmp_path)
    assert np.asarray(umb.load(path, 0.9, "cost").reward)[1, 0] == 2.0
    with pytest.raises(InputError, match="several rewards; name one of"):
        FiniteMDP.load(path, 0.9)
    with pytest.raises(InputError, match="no rewards 'other'; it has"):
        umb.load(path, 0.9, "other")


def test_without_numbers_the_only_branch_is_sure_and_one_of_several_is_refused(tmp_path: Path) -> None:
    ats = model()
    for branch in ats.branches:
        branch.prob = None
    with pytest.raises(InputError, match="has the probability None; it must be a number"):
        FiniteMDP.load(written(ats, tmp_path), 0.9)
    ats.get_state_choices(0)[0].branches.pop()
    mdp = FiniteMDP.load(written(ats, tmp_path), 0.9)
    np.testing.assert_array_equal(mdp.dense()[:, 0], [[0, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_what_is_no_mdp_with_numbers_is_refused(tmp_path: Path) -> None:
    intervals = model()
    for branch in intervals.branches:
        branch.prob = umbi.datatypes.Interval(0.25, 1.0)
    observed = model()
    observed.add_observation_annotation(1).set_state_values([0, 0, 0])
    game = model()
    game.num_players, game.state_to_player, game.player_to_name = 2, [0, 1, 0], ["one", "two"]
    for ats, message in (
        (intervals, "has the probability .*; it must be a number"),
        (observed, "has observations; its states must be seen"),
        (game, "is a game of 2 players"),
    ):
        with pytest.raises(InputError, match=message):
            FiniteMDP.load(written(ats, tmp_path), 0.9)
    timed = model()
    timed.time = umbi.ats.TimeType.STOCHASTIC
    timed.state_to_exit_rate = [1.0, 1.0, 1.0]
    with pytest.raises(InputError, match="has time 'stochastic'; it must be discrete"):
        FiniteMDP.load(written(timed, tmp_path), 0.9)


def test_a_bad_file_and_a_missing_discount(tmp_path: Path) -> None:
    path = written(model(), tmp_path)
    with pytest.raises(InputError, match=r"a \.umb file holds no discount"):
        FiniteMDP.load(path)
    whole = path.read_bytes()
    for text in (b"", whole[: len(whole) // 2], b"x" * 200):
        path.write_bytes(text)
        with pytest.raises(InputError, match="is no readable UMB file"):
            FiniteMDP.load(path, 0.9)
    with pytest.raises(InputError, match="is not a file"):
        FiniteMDP.load(tmp_path / "none.umb", 0.9)


def test_the_command_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ats = model("gain")
    ats.get_reward_annotation("gain").set_state_values([1.0, 1.0, 1.0])
    assert main([str(written(ats, tmp_path)), "--discount", "0.5"]) == 0
    assert "2" in capsys.readouterr().out
