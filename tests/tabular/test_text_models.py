"""Text files of models at the edges of their forms: what is still a model, and what is refused by its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, families
from pyresac.tabular.readers import drn

HEADER = "idstatefrom,idaction,idstateto,probability,reward"
SMALL = "discount: 0.5\nstates: {states}\nactions: {actions}\n"
STAYS = "T: *\nidentity\n"


def load(folder: Path, ending: str, text: str, **beside: str) -> FiniteMDP:
    """The model of a file that holds `text`, and of those beside it."""
    for name, other in beside.items():
        (folder / f"m.{name}").write_text(other)
    path = folder / f"m{ending}"
    path.write_text(text)
    return FiniteMDP.load(path, None if ending == ".mdp" else 0.5)


def test_a_whole_matrix_of_cassandra_is_square_and_of_one_action(tmp_path: Path) -> None:
    text = SMALL.format(states=3, actions=2) + "T: 0\n0 0.5 0.5\n1 0 0\n0 0.25 0.75\nT: 1\nidentity\nR: 1 : 2 : * 5\n"
    mdp = load(tmp_path, ".mdp", text)
    np.testing.assert_array_equal(mdp.dense()[:, 0], [[0, 0.5, 0.5], [1, 0, 0], [0, 0.25, 0.75]])
    np.testing.assert_array_equal(mdp.dense()[:, 1], np.eye(3))
    np.testing.assert_array_equal(mdp.reward, [[0, 0], [0, 0], [0, 5]])


@pytest.mark.parametrize("states", [1, 3])
def test_a_row_of_cassandra_may_be_uniform(states: int, tmp_path: Path) -> None:
    mdp = load(tmp_path, ".mdp", SMALL.format(states=states, actions=1) + STAYS + "T: 0 : 0\nuniform\n")
    expected = np.eye(states)
    expected[0] = 1 / states
    np.testing.assert_array_equal(mdp.dense()[:, 0], expected)
    assert not mdp.reward.any()


def test_names_of_cassandra_may_be_words_of_the_form(tmp_path: Path) -> None:
    """A key is one only before its colon."""
    text = "discount: 0.5\nstates: T start R\nactions: values O\nT: values\nidentity\nT: O : T : R 1\nT: O : R : R 1\n"
    mdp = load(tmp_path, ".mdp", text + "T: O : start : R 1\nstart: start\n")
    np.testing.assert_array_equal(mdp.dense()[:, 0], np.eye(3))
    np.testing.assert_array_equal(mdp.dense()[:, 1], [[0, 0, 1]] * 3)
    np.testing.assert_array_equal(mdp.initial, [0, 1, 0])


@pytest.mark.parametrize(
    ("states", "start", "expected"),
    [
        ("1", "1", [1]),
        ("1", "0", [1]),
        ("a", "1", [1]),
        ("a", "a", [1]),
        ("2", "1", [0, 1]),
        ("2", "0 1", [0, 1]),
        ("3", "0 1 0", [0, 1, 0]),
        ("3", "1 0 0", [1, 0, 0]),
        ("3", "1", [0, 1, 0]),
        ("a b c", "0 1 0", [0, 1, 0]),
        ("a b c", "1", [0, 1, 0]),
        ("a b c", "b", [0, 1, 0]),
        ("a b", "0.5 0.5", [0.5, 0.5]),
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_a_run_begins_in_a_state_or_by_a_distribution(
    states: str, start: str, expected: list[float], last: bool, tmp_path: Path
) -> None:
    """Whole numbers may be either; how many there are tells."""
    head, begins = SMALL.format(states=states, actions=1), f"start: {start}\n"
    mdp = load(tmp_path, ".mdp", head + (STAYS + begins if last else begins + STAYS))
    np.testing.assert_array_equal(mdp.initial, expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("discount: 0.5\nstart", "line 2: the states must be declared first; found 'start'"),
        ("discount: 0.5\nstates: a b\nvalues:", "m.mdp ends where reward or cost is expected"),
        ("states: a b\nactions: c\nT: 1 : a : a 1", "line 3: expected '*' or one of the actions c … c; found '1'"),
        ("states: a b\nactions: c\nT: c : 2 : a 1", "line 3: expected '*' or one of the states a … b; found '2'"),
    ],
)
def test_what_cassandra_does_not_know_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load(tmp_path, ".mdp", text)


DRN = """@Type: MDP
@Nr_States
4
@Model
state 1 [4, 9]
\taction a [8, 1]
\t\t2 : 1
state 2 [6]
\taction a
\t\t1 : 1
\taction b [16]
\t\t2 : 1
state 0
\taction a
\t\t1 : 1
state 3
"""


def test_a_drn_file_names_no_rewards_and_states_that_lead_nowhere(tmp_path: Path) -> None:
    """Rewards are then the first ones; states are told by their numbers, not by their order."""
    mdp = load(tmp_path, ".drn", DRN)
    np.testing.assert_array_equal(mdp.dense()[:, 0], np.eye(4)[[1, 2, 1, 3]])
    np.testing.assert_array_equal(mdp.dense()[2, 1], [0, 0, 1, 0])
    np.testing.assert_array_equal(mdp.reward, [[0, 0], [12, 0], [6, 22], [0, 0]])
    assert mdp.initial is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("state 1 [4, 9]", "state 1 !2.5", "line 5: a state with a rate is not of an MDP: 'state 1 !2.5'"),
        ("state 1 [4, 9]\n", "", "line 5: an action comes after its state: 'action a [8, 1]'"),
        ("state 1 [4, 9]\n\taction a [8, 1]\n", "", "line 5: an outcome comes after its action: '2 : 1'"),
        ("state 2 [6]\n\taction a\n", "state 2 [6]\n", "line 9: an outcome comes after its action: '1 : 1'"),
        *(
            ("2 : 1", f"2 : [{ends}]", f"line 7: an interval of probabilities lies in [0, 1], its lower end first: "
             f"'2 : [{ends}]'")
            for ends in ("0.5, 1.5", "-0.5, 1", "0.75, 0.5")
        ),
    ],
)  # fmt: skip
def test_a_drn_file_is_refused_by_its_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load(tmp_path, ".drn", DRN.replace(old, new, 1))


def test_intervals_are_held_in_shares_of_what_is_left(tmp_path: Path) -> None:
    """A pair's probabilities lie alike far between their ends; an end without width stays."""
    path = tmp_path / "m.drn"
    rows = "\t\t0 : [0.25, 0.5]\n\t\t1 : [0.25, 0.75]\n\t\t2 : 0.125\n"
    path.write_text(f"@type: MDP\n@model\nstate 0\n\taction a\n{rows}state 1\n\taction a\n\t\t2 : [1, 1]\n")
    nominal, lower, upper = drn.intervals(path, 0.5)
    # 3/8 of the 3/4 between the ends are left
    kernels: list[Any] = [FiniteMDP.from_arrays(nominal.transition, nominal.reward, 0.5).dense()[:, 0]]
    np.testing.assert_array_equal(kernels[0], [[0.375, 0.5, 0.125], [0, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(lower.toarray(), [[0.25, 0.25, 0.125], [0, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(upper.toarray(), [[0.5, 0.75, 0.125], [0, 0, 1], [0, 0, 1]])


def test_states_of_prism_are_counted_by_the_highest_number_anywhere(tmp_path: Path) -> None:
    """Storm's header says nothing of them."""
    for text, states in (("mdp\n0 0 0 1\n", 1), ("mdp\n0 0 3 1\n", 4), ("mdp\n2 0 1 1\n", 3)):
        assert load(tmp_path, ".tra", text).n_states == states
    mdp = load(tmp_path, ".tra", "mdp\n0 0 1 1\n", **{"state.rew": "4 7\n0 1\n0 2\n"})
    np.testing.assert_array_equal(mdp.reward[:, 0], [3, 0, 0, 0, 7])


def test_a_reward_of_prism_is_of_its_own_transition(tmp_path: Path) -> None:
    """State, choice and successor are three numbers, and each tells."""
    text = "3 5 6\n2 1 0 0.25\n2 1 1 0.75\n2 0 2 1\n1 0 2 1\n0 0 0 1\n0 1 2 1\n"
    mdp = load(tmp_path, ".tra", text, trew="3 4 3\n2 1 0 8\n1 0 2 3\n0 1 2 5\n")
    np.testing.assert_array_equal(mdp.reward, [[0, 5], [3, 0], [0, 2]])
    chain = load(tmp_path, ".tra", "3 3\n0 2 1\n2 1 1\n1 1 1\n", trew="3 2\n0 2 4\n2 1 6\n")
    np.testing.assert_array_equal(chain.reward[:, 0], [4, 0, 6])


@pytest.mark.parametrize(
    ("text", "beside", "message"),
    [
        ("3 3\n0 2 1\n0 3 1\n", {}, "m.tra, line 3: the header says 3 states: '0 3 1'"),
        ("3 3\n3 0 1\n", {}, "m.tra, line 2: the header says 3 states: '3 0 1'"),
        ("a b\n0 1 1\n", {}, "m.tra, line 1: the first line is 'mdp'"),
        ("3 b 4\n0 0 1 1\n", {}, "m.tra, line 1: the first line is 'mdp'"),
        ("3 3 3 3\n0 0 1 1\n", {}, "m.tra, line 1: the first line is 'mdp'"),
        ("3\n0 0 1 1\n", {}, "m.tra, line 1: the first line is 'mdp'"),
        ("mdp\n0 0 x 1\n", {}, "m.tra, line 2: expected numbers: '0 0 x 1'"),
        ("dtmc\n0 0\n", {}, "m.tra, line 2: expected 2 numbers of states and choices and a probability: '0 0'"),
        ("dtmc\n0 0 1\n", {"state.rew": "0 1 2\n"}, "m.state.rew, line 1: expected a state and its reward: '0 1 2'"),
        ("dtmc\n0 0 1\n", {"state.rew": "0\n"}, "m.state.rew, line 1: expected a state and its reward: '0'"),
        ("dtmc\n0 0 1\n", {"trans.rew": "0 0\n"}, "m.trans.rew, line 1: expected a transition and its reward: '0 0'"),
        ("mdp\n0 0 0 1\n", {"trans.rew": "0 0 0 1 2\n"}, "line 1: expected a transition and its reward: '0 0 0 1 2'"),
    ],
)
def test_prism_files_are_refused_by_their_line(text: str, beside: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load(tmp_path, ".tra", text, **beside)


def test_what_stands_after_a_hash_is_no_label(tmp_path: Path) -> None:
    """Neither in Storm's form, nor among PRISM's names."""
    mdp = load(tmp_path, ".tra", "dtmc\n0 0 1\n", lab='#0="init"\n#DECLARATION\ninit\n#END\n0: 0\n')
    assert mdp.initial is None
    mdp = load(tmp_path, ".tra", "dtmc\n0 0 1\n1 1 1\n", lab='0="init" 1="x"\n#1="deadlock"\n0: 1\n1: 1 0\n')
    np.testing.assert_array_equal(mdp.initial, [0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEADER}\n1,0,0,1,0\n0,0,1,1,0\n1,0,0,0,0\n1,1,1,1,0\n", "m.csv, line 4: (idstatefrom=1, idaction=0, "
         "idstateto=0) stands on line 2 already"),
        (f"{HEADER},rows\n0,0,0,1,0,2\n", "m.csv: 1 rows where its column rows says 2; the file was cut or joined"),
        (f"{HEADER},rows\n0,0,0,1,0,2\n1,0,0,1,0,3\n", "m.csv: 2 rows where its column rows says 2"),
        (f"{HEADER},reward\n0,0,0,1,0,0\n", "m.csv: the columns are ['idstatefrom',"),
    ],
)  # fmt: skip
def test_a_csv_is_refused_by_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        load(tmp_path, ".csv", text)


def test_only_the_last_action_of_a_csv_must_be_somewhere(tmp_path: Path) -> None:
    """The largest that a CSV names says how many there are."""
    for last, refused in ((0, True), (1, False)):
        available = np.zeros((2, 2), dtype=bool)
        available[:, last] = True
        mdp = FiniteMDP.from_arrays(np.full((2, 2, 2), 0.5), np.ones((2, 2)), 0.5, available=available)
        path = tmp_path / f"{last}.csv"
        if refused:
            with pytest.raises(InputError, match="action 1 is available in no state, and a CSV names none but those"):
                mdp.save(path)
        else:
            mdp.save(path)
            np.testing.assert_array_equal(FiniteMDP.load(path, 0.5).available, available)


def test_a_file_of_another_ending_or_in_no_folder_is_not_saved(tmp_path: Path) -> None:
    mdp = families.chain(3, 0.9)
    with pytest.raises(InputError, match=r"m\.json ends in '\.json'; known endings are \.npz and \.csv"):
        mdp.save(tmp_path / "m.json")
    with pytest.raises(InputError, match=r"none is not a folder; make it before saving m\.csv into it"):
        mdp.save(tmp_path / "none" / "m.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("as_csr", [False, True])
@pytest.mark.parametrize("missing", ["reward", "discount", "transition", "indptr", "indices", "data"])
def test_an_archive_has_every_entry_of_a_model(as_csr: bool, missing: str, tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    mdp = families.random_dense(3, 2, 0.9, 0)
    (FiniteMDP.from_arrays(mdp.matrix, mdp.reward, 0.9) if as_csr else mdp).save(path)
    with np.load(path) as archive:
        kept = {name: archive[name] for name in archive.files if name != missing}
    np.savez(path, **kept)
    if missing in (("transition",) if as_csr else ("indptr", "indices", "data")):
        assert FiniteMDP.load(path).n_states == 3
    else:
        with pytest.raises(InputError, match=r"m\.npz lacks entries of an MDP \(entries: \['"):
            FiniteMDP.load(path)
    np.savez(path, **kept | {"reward": np.zeros(6), "discount": 0.9, "transition": mdp.dense()})
    with pytest.raises(InputError, match=r"m\.npz: reward has shape \(6,\); expected \(S, A\)"):
        FiniteMDP.load(path)
