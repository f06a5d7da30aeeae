"""Models of other formats and packages are what those programs mean, and bad files are refused by their line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pyresac import solve as command
from pyresac.errors import InputError
from pyresac.tabular import FiniteMDP, IntervalSet, Min, RevOperator, solve

PRISM = {
    ".tra": "3 4 6\n0 0 1 0.5\n0 0 2 0.5\n0 1 0 1\n1 0 1 1\n2 0 0 0.25 go\n2 0 2 0.75\n",
    ".lab": '0="init" 1="deadlock"\n0: 0\n1: 1\n',
    ".srew": "3 2\n0 2\n2 -1\n",
    ".trew": "3 4 1\n0 0 1 10\n",
}
DRN = """// a comment
@type: MDP
@parameters

@reward_models
cost gain
@nr_states
3
@nr_choices
4
@model
state 0 [2, 20] init
\taction a [5, 50]
\t\t1 : 0.5
\t\t2 : 1/2
\taction b
\t\t0 : 1
state 1 target
\taction a
\t\t1 : 1
state 2 [-1]
\taction a
\t\t0 : 0.25
\t\t2 : 0.75
"""
CASSANDRA = """# the same model
discount: 0.9
values: reward
states: s0 s1 s2
actions: a b
start: s0
T: a : s0
0 0.5 0.5
T: b
identity
T: a : s1 : s1 1
T: a : s2 : s0 0.25
T: a : s2 : s2 0.75
R: * : s0 : * 2
R: a : s0 : s1 12
R: * : s2 : * : * -1
"""


def write(folder: Path, texts: dict[str, str]) -> Path:
    for ending, text in texts.items():
        (folder / f"m{ending}").write_text(text)
    return folder / f"m{next(iter(texts))}"


EXPECTED = np.array([[[0, 0.5, 0.5], [1, 0, 0]], [[0, 1, 0], [0, 0, 0]], [[0.25, 0, 0.75], [0, 0, 0]]])


def test_prism_files_with_labels_and_rewards(tmp_path: Path) -> None:
    mdp = FiniteMDP.load(write(tmp_path, PRISM), 0.9)
    np.testing.assert_array_equal(mdp.dense(), EXPECTED)
    np.testing.assert_array_equal(mdp.reward, [[2 + 0.5 * 10, 2], [0, 0], [-1, 0]])
    np.testing.assert_array_equal(mdp.available, [[True, True], [True, False], [True, False]])
    np.testing.assert_array_equal(mdp.initial, [1, 0, 0])
    assert mdp.discount == 0.9


def test_storms_header_and_labels_and_a_state_without_choices(tmp_path: Path) -> None:
    texts = {
        ".tra": "mdp\n0 0 1 1\n1 0 2 0.5\n1 0 0 0.5\n",
        ".lab": "#DECLARATION\ninit done\n#END\n1 init\n2 done\n",
        ".state.rew": "0 1\n2 4\n",
    }
    mdp = FiniteMDP.load(write(tmp_path, texts), 0.5)
    np.testing.assert_array_equal(mdp.dense()[:, 0], [[0, 1, 0], [0.5, 0, 0.5], [0, 0, 1]])
    np.testing.assert_array_equal(mdp.reward[:, 0], [1, 0, 4])
    np.testing.assert_array_equal(mdp.initial, [0, 1, 0])


def test_a_chain_of_prism_has_one_action(tmp_path: Path) -> None:
    mdp = FiniteMDP.load(write(tmp_path, {".tra": "2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n", ".trew": "2 1\n0 1 3\n"}), 0.5)
    np.testing.assert_array_equal(mdp.dense(), [[[0.5, 0.5]], [[0, 1]]])
    np.testing.assert_array_equal(mdp.reward, [[1.5], [0]])


def test_drn_takes_the_first_rewards_or_those_named(tmp_path: Path) -> None:
    from pyresac.tabular.readers import drn

    path = write(tmp_path, {".drn": DRN})
    mdp = FiniteMDP.load(path, 0.9)
    np.testing.assert_array_equal(mdp.dense(), EXPECTED)
    np.testing.assert_array_equal(mdp.reward, [[7, 2], [0, 0], [-1, 0]])
    np.testing.assert_array_equal(mdp.initial, [1, 0, 0])
    np.testing.assert_array_equal(drn.load(path, 0.9, "gain").reward, [[70, 20], [0, 0], [0, 0]])
    with pytest.raises(InputError, match="no reward model 'other'"):
        drn.load(path, 0.9, "other")


def test_an_interval_model_gives_its_set(tmp_path: Path) -> None:
    """Storm's tiny example, with a reward: the worst case is on an end of the intervals."""
    text = (
        "@type: MDP\n@reward_models\nr\n@nr_states\n3\n@model\n"
        "state 0\n\taction 0 [1]\n\t\t1 : [0.4, 0.9]\n\t\t2 : [0.3, 0.8]\n"
        "state 1\n\taction 0 [10]\n\t\t1 : [1, 1]\nstate 2\n\taction 0\n\t\t2 : 1\n"
    )
    path = write(tmp_path, {".drn": text})
    with pytest.raises(InputError, match=r"interval model; read it with IntervalSet\.load"):
        FiniteMDP.load(path, 0.5)
    mdp, intervals = IntervalSet.load(path, 0.5)
    assert ((mdp.dense()[0, 0, 1:] >= [0.4, 0.3]) & (mdp.dense()[0, 0, 1:] <= [0.9, 0.8])).all()
    worst = solve(RevOperator(mdp, expectation=intervals), tolerance=1e-12).v
    best = solve(RevOperator(mdp, expectation=IntervalSet.load(path, 0.5, optimistic=True)[1]), tolerance=1e-12).v
    # V(1) = 10/(1 − γ) = 20, V(2) = 0; at least 0.4 and at most 0.7 go to 1, since at least 0.3 go to 2
    assert worst[0] == pytest.approx(1 + 0.5 * 0.4 * 20, abs=1e-9)
    assert best[0] == pytest.approx(1 + 0.5 * 0.7 * 20, abs=1e-9)
    (tmp_path / "m.drn").write_text(text.replace("[0.3, 0.8]", "[0.0, 0.05]"))
    with pytest.raises(InputError, match=r"state 0, action 0 .* sum to 0\.4 and upper ones that sum to 0\.95"):
        IntervalSet.load(path, 0.5)


def test_cassandras_form(tmp_path: Path) -> None:
    path = write(tmp_path, {".mdp": CASSANDRA})
    mdp = FiniteMDP.load(path)
    assert mdp.discount == 0.9
    expected = EXPECTED.copy()
    expected[1, 1], expected[2, 1] = [0, 1, 0], [0, 0, 1]
    np.testing.assert_array_equal(mdp.dense(), expected)
    np.testing.assert_array_equal(mdp.reward, [[0.5 * 12 + 0.5 * 2, 2], [0, 0], [-1, -1]])
    np.testing.assert_array_equal(mdp.initial, [1, 0, 0])
    assert FiniteMDP.load(path, 0.5).discount == 0.5


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("uniform", [1 / 3] * 3),
        ("0.5 0.25 0.25", [0.5, 0.25, 0.25]),
        ("2", [0, 0, 1]),
        ("s1", [0, 1, 0]),
    ],
)
def test_cassandras_starts(tmp_path: Path, start: str, expected: list[float]) -> None:
    mdp = FiniteMDP.load(write(tmp_path, {".mdp": CASSANDRA.replace("start: s0", f"start: {start}")}))
    np.testing.assert_allclose(mdp.initial, expected)


@pytest.mark.parametrize(
    ("form", "expected"), [("start include: s0 s2", [0.5, 0, 0.5]), ("start exclude: s0", [0, 0.5, 0.5])]
)
def test_cassandras_starts_by_names(tmp_path: Path, form: str, expected: list[float]) -> None:
    mdp = FiniteMDP.load(write(tmp_path, {".mdp": CASSANDRA.replace("start: s0", form)}))
    np.testing.assert_array_equal(mdp.initial, expected)


def test_costs_are_negative_rewards_and_matrices_stand_whole(tmp_path: Path) -> None:
    text = "discount: 0.5\nvalues: cost\nstates: 2\nactions: 2\nT: 0\n0.5 0.5\n0 1\nT: 1\nuniform\nR: 0\n1 3\n0 0\n"
    mdp = FiniteMDP.load(write(tmp_path, {".mdp": text}))
    np.testing.assert_array_equal(mdp.dense(), [[[0.5, 0.5], [0.5, 0.5]], [[0, 1], [0.5, 0.5]]])
    np.testing.assert_array_equal(mdp.reward, [[-2, 0], [0, 0]])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({".tra": "3 4\n0 0 0.5\n0 7 0.5\n"}, r"m\.tra, line 3: the header says 3 states: '0 7 0\.5'"),
        ({".tra": "hello\n"}, "line 1: the first line is 'mdp'"),
        ({".tra": "mdp\n0 0 1\n"}, "line 2: expected 3 numbers"),
        ({".tra": "mdp\n0 0 1 nan\n"}, "line 2: numbers must be finite"),
        ({".tra": "mdp\n0 0 -1 1\n"}, "line 2: numbers must be finite, and those of states and actions at least 0"),
        ({".tra": "mdp\n"}, "has no transitions"),
        ({".tra": "mdp\n0 0 0 0.9\n"}, r"row \(s=0, a=0\)"),
        ({".tra": PRISM[".tra"], ".trew": "3 4 1\n0 1 2 10\n"}, r"m\.trew, line 2: there is no such transition"),
        ({".tra": PRISM[".tra"], ".srew": "0 1\n", ".state.rew": "0 1\n"}, "both hold rewards of states"),
        (
            {".tra": PRISM[".tra"], ".lab": '0="init"\n0: 0\n3: 0\n'},
            r"m\.tra: a run begins in state 3; .* has 3 states",
        ),
        ({".drn": DRN + "state 3 init\n"}, r"m\.drn: the header says 3 states, and the file has 4$"),
        ({".drn": DRN.replace("MDP", "POMDP")}, "the type must be one of MDP, DTMC"),
        ({".drn": DRN.replace("@parameters\n", "@parameters\np q")}, "a model with parameters has no numbers"),
        ({".drn": DRN.replace("1/2", "p")}, "'p' is no number"),
        ({".drn": DRN.replace("1/2", "1/0")}, "'1/0' is no number"),
        ({".drn": DRN.replace("\taction b", "\tdeed b")}, "expected a state, an action or an outcome"),
        ({".mdp": CASSANDRA.replace("T: b", "T: c")}, r"line 9: expected '\*' or one of the actions a … b; found 'c'"),
        ({".mdp": CASSANDRA.replace("0 0.5 0.5", "0 0.5 x")}, "line 8: expected a number; found 'x'"),
        ({".mdp": CASSANDRA.replace("states: s0 s1 s2\n", "")}, "the states must be declared first"),
        ({".mdp": CASSANDRA + "observations: 2\n"}, "POMDP"),
        ({".mdp": CASSANDRA + "T: a : s0 : s1"}, "ends where a number is expected"),
        ({".mdp": CASSANDRA.replace("discount: 0.9\n", "")}, "has no discount"),
        ({".mdp": CASSANDRA + "start"}, "ends where a number is expected"),
        ({".mdp": CASSANDRA + "start:"}, "ends where a number is expected"),
        ({".mdp": CASSANDRA + "start include:"}, "no state is left to start in"),
        ({".mdp": CASSANDRA + "start exclude: s0 s1 s2"}, "no state is left to start in; found 's2'"),
        # cut short, or with a header of another model
        (
            {**PRISM, ".tra": PRISM[".tra"].replace("2 0 2 0.75\n", "")},
            "says 6 transitions, and the file has 5; is it cut",
        ),
        ({**PRISM, ".tra": PRISM[".tra"] + "1 0 0 0\n"}, "says 6 transitions, and the file has 7$"),
        ({**PRISM, ".tra": PRISM[".tra"].replace("3 4 6", "3 5 6")}, "says 5 choices, and the file has 4; is it cut"),
        ({**PRISM, ".tra": PRISM[".tra"].replace("3 4 6", "3 3 6")}, "says 3 choices, and the file has 4$"),
        ({".tra": "2 2\n0 1 1\n"}, "says 2 transitions, and the file has 1; is it cut"),
        ({**PRISM, ".srew": "3 3\n0 2\n2 -1\n"}, r"m\.srew: the header says 3 rewards, and the file has 2; is it cut"),
        ({**PRISM, ".trew": "3 4 0\n0 0 1 10\n"}, r"m\.trew: the header says 0 rewards, and the file has 1$"),
        ({".drn": DRN.replace("@nr_states\n3", "@nr_states\n4")}, "says 4 states, and the file has 3; is it cut"),
        ({".drn": DRN.replace("@nr_choices\n4", "@nr_choices\n5")}, "says 5 choices, and the file has 4; is it cut"),
        ({".drn": DRN.replace("@nr_choices\n4", "@nr_choices\n3")}, "says 3 choices, and the file has 4$"),
        # so many states that no memory holds them
        ({".tra": "2147483648 1 1\n0 0 0 1\n"}, "line 1: states are numbered below 2³¹"),
        ({".drn": DRN.replace("@nr_states\n3", "@nr_states\n2147483648")}, "line 8: states are numbered below 2³¹"),
        ({".mdp": CASSANDRA.replace("s0 s1 s2", "1000001")}, "line 4: at most 1,000,000 states are read"),
        ({".mdp": CASSANDRA.replace("a b", "1000001")}, "line 5: at most 1,000,000 actions are read"),
        (
            {".mdp": "discount: 0.9\nstates: 1000000\nactions: 2\nT: 0\nidentity\n"},
            "a table of 2 × 1,000,000 × 1,000,000 numbers needs",
        ),
        ({".mdp": CASSANDRA + "discount 0.9"}, "expected ':'; found '0.9'"),
        ({".mdp": CASSANDRA + "values: money"}, "expected reward or cost; found 'money'"),
        ({".mdp": CASSANDRA + "junk: 1"}, "expected one of discount, values, .*; found 'junk'"),
        ({".mdp": CASSANDRA + "R: a : s0 : s1 : o1 1"}, r"expected '\*'; found 'o1'"),
        ({".mdp": CASSANDRA + "T: a : s0 identity"}, "identity is a whole matrix; found 'identity'"),
        ({".mdp": "discount: 0.5\nstates:\nactions: a\n"}, "line 3: expected the states; found 'actions'"),
        ({".mdp": "discount: 0.5\nstates: 2\nactions: a\n"}, "has no transitions"),
        ({".mdp": "# nothing\n"}, "is empty"),
    ],
)
def test_bad_files_are_refused_by_their_line(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    path = write(tmp_path, texts)
    with pytest.raises(InputError, match=message):
        FiniteMDP.load(path, None if path.suffix == ".mdp" else 0.9)


@pytest.mark.parametrize("ending", [".tra", ".drn"])
def test_a_missing_discount_is_asked_for(tmp_path: Path, ending: str) -> None:
    with pytest.raises(InputError, match="holds no discount"):
        FiniteMDP.load(write(tmp_path, {ending: "x"}))


class Problem:
    """Stands for QuantEcon's `DiscreteDP`."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def test_quantecon_in_both_its_forms() -> None:
    reward = np.array([[7.0, 2.0], [0.0, -np.inf], [-1.0, -np.inf]])
    product = FiniteMDP.from_quantecon(Problem(R=reward, Q=EXPECTED, beta=0.9))
    pairs = Problem(
        R=np.array([7.0, 2.0, 0.0, -1.0]), Q=sparse.csr_array(EXPECTED.reshape(6, 3)[[0, 1, 2, 4]]), beta=0.9,
        s_indices=[0, 0, 1, 2], a_indices=[0, 1, 0, 0],
    )  # fmt: skip
    for mdp in (product, FiniteMDP.from_quantecon(pairs)):
        np.testing.assert_array_equal(mdp.dense(), EXPECTED)
        np.testing.assert_array_equal(mdp.available, [[True, True], [True, False], [True, False]])
        np.testing.assert_array_equal(mdp.reward, [[7, 2], [0, 0], [-1, 0]])
        assert mdp.discount == 0.9
    with pytest.raises(InputError, match="lacks beta"):
        FiniteMDP.from_quantecon(Problem(R=reward, Q=EXPECTED))


def test_pymdptoolbox_with_each_form_of_rewards() -> None:
    kernel = np.array([[[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.25, 0.75]]])
    by_transition = np.array([[[1.0, 3.0], [0.0, 2.0]], [[5.0, 0.0], [4.0, 8.0]]])
    expected = [[2.0, 5.0], [2.0, 7.0]]
    for given in (kernel, [sparse.csr_array(matrix) for matrix in kernel]):
        mdp = FiniteMDP.from_pr(given, by_transition, 0.9)
        np.testing.assert_array_equal(mdp.dense(), kernel.transpose(1, 0, 2))
        np.testing.assert_array_equal(mdp.reward, expected)
    np.testing.assert_array_equal(
        FiniteMDP.from_pr(kernel, [sparse.csr_array(part) for part in by_transition], 0.9).reward, expected
    )
    np.testing.assert_array_equal(FiniteMDP.from_pr(kernel, expected, 0.9).reward, expected)
    np.testing.assert_array_equal(FiniteMDP.from_pr(kernel, [1.0, 2.0], 0.9).reward, [[1, 1], [2, 2]])
    with pytest.raises(InputError, match=r"R has shape \(3,\)"):
        FiniteMDP.from_pr(kernel, [1.0, 2.0, 3.0], 0.9)


LIKELY = [0.5, 0, 0.5]
"""A run begins in the first or in the last of three states."""


@pytest.mark.parametrize(
    "texts",
    [
        PRISM | {".lab": '0="init" 1="deadlock"\n0: 0\n1: 1\n2: 1 0\n'},
        PRISM | {".lab": "#DECLARATION\ninit done\n#END\n0 init\n1 done\n2 done init\n"},
        {".drn": DRN.replace("state 2 [-1]", "state 2 [-1] init")},
        {".mdp": CASSANDRA.replace("start: s0", "start include: s0 s2")},
    ],
    ids=["prism", "storm's labels", "drn", "cassandra"],
)
def test_several_first_states_are_alike_likely(tmp_path: Path, texts: dict[str, str]) -> None:
    path = write(tmp_path, texts)
    mdp = FiniteMDP.load(path, None if path.suffix == ".mdp" else 0.9)
    np.testing.assert_array_equal(mdp.initial, LIKELY)


def test_a_label_may_hold_an_equals_sign(tmp_path: Path) -> None:
    """A name ends with its quotation mark."""
    mdp = FiniteMDP.load(write(tmp_path, PRISM | {".lab": '0="x=1" 1="init"\n0: 0\n1: 1\n'}), 0.9)
    np.testing.assert_array_equal(mdp.initial, [0, 1, 0])


class Entry:
    """Stands for what stormpy gives: attributes."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def storms_model(**changes: Any) -> Any:
    """The model of the other forms as stormpy would give it, with its rewards "cost" of states and of actions, which
    are numbered through."""

    def state(number: int, *choices: dict[int, Any]) -> Entry:
        rows = [Entry(transitions=[Entry(column=t, value=p) for t, p in row.items()]) for row in choices]
        return Entry(id=number, actions=rows)

    cost = Entry(
        has_transition_rewards=False, has_state_rewards=True, has_state_action_rewards=True,
        get_state_reward=[2.0, 0.0, 1.0].__getitem__, get_state_action_reward=[5.0, 0.0, 7.0, 0.0].__getitem__,
    )  # fmt: skip
    given: dict[str, Any] = {
        "model_type": "ModelType.MDP", "has_parameters": False, "supports_uncertainty": False,
        "reward_models": {"cost": cost}, "initial_states": [0, 2], "nr_states": 3,
        # older versions give a probability by a method
        "states": [state(0, {1: 0.5, 2: lambda: 0.5}, {0: 1}), state(1, {1: 1}), state(2, {0: 0.25, 2: 0.75})],
    }  # fmt: skip
    return Entry(**(given | changes))


def test_what_stormpy_gives_is_read_without_it() -> None:
    mdp = FiniteMDP.from_storm(storms_model(), 0.9)
    np.testing.assert_array_equal(mdp.dense(), EXPECTED)
    np.testing.assert_array_equal(mdp.reward, [[7, 2], [7, 0], [1, 0]])
    np.testing.assert_array_equal(mdp.available, [[True, True], [True, False], [True, False]])
    np.testing.assert_array_equal(mdp.initial, LIKELY)
    assert not FiniteMDP.from_storm(storms_model(reward_models={}), 0.9).reward.any()
    # a state that comes last and has no choices is absorbing
    assert FiniteMDP.from_storm(storms_model(nr_states=4), 0.9).dense()[3, 0].tolist() == [0, 0, 0, 1]
    cost = storms_model().reward_models["cost"]
    for kind, expected in (("state", [[5, 0], [7, 0], [0, 0]]), ("state_action", [[2, 2], [0, 0], [1, 0]])):
        partly = Entry(**(vars(cost) | {f"has_{kind}_rewards": False}))
        model = storms_model(reward_models={"other": cost, "part": partly})
        np.testing.assert_array_equal(FiniteMDP.from_storm(model, 0.9, "part").reward, expected)


@pytest.mark.parametrize(
    ("changes", "rewards", "message"),
    [
        ({"model_type": "ModelType.POMDP"}, None, "the model is POMDP; it must be a stormpy MDP or DTMC"),
        ({"has_parameters": True}, None, "the model has parameters or intervals"),
        ({"supports_uncertainty": True}, None, "the model has parameters or intervals"),
        ({"reward_models": {"a": None, "b": None}}, None, "the model has several rewards; name one of 'a', 'b'"),
        ({}, "gain", "the model has no rewards 'gain'; it has 'cost'"),
        ({"reward_models": {}}, "gain", "the model has no rewards 'gain'; it has none"),
        ({"reward_models": {"r": Entry(has_transition_rewards=True)}}, None, "rewards of transitions; turn them into"),
        (
            {"states": [Entry(id=0, actions=[Entry(transitions=[Entry(column=0, value="[0.1, 0.9]")])])]},
            None,
            r"the model has the probability \[0\.1, 0\.9\]; it must have numbers",
        ),
    ],
)
def test_what_stormpy_gives_and_is_no_model_of_numbers(
    changes: dict[str, Any], rewards: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        FiniteMDP.from_storm(storms_model(**changes), 0.9, rewards)


def test_a_chain_of_stormpy_is_a_model() -> None:
    chain = storms_model(model_type="ModelType.DTMC", states=storms_model().states[1:2], initial_states=[1])
    assert FiniteMDP.from_storm(chain, 0.9).dense()[1].tolist() == [[0, 1, 0]]


def test_storms_models(tmp_path: Path) -> None:
    """Of a program in PRISM's language, and the same model through its DRN file."""
    stormpy = pytest.importorskip("stormpy", "2.0", reason="stormpy is not installed: pip install 'pyresac[storm]'")
    pytest.importorskip("stormpy.io")
    program = tmp_path / "small.nm"
    program.write_text(
        "mdp\nmodule m\n s : [0..2] init 0;\n [a] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);\n [b] s=0 -> true;\n"
        " [a] s=1 -> true;\n [a] s=2 -> 0.25:(s'=0) + 0.75:(s'=2);\nendmodule\n"
        'rewards "cost"\n s=0 : 2;\n [a] s=0 : 5;\n s=2 : 1;\nendrewards\n'
    )
    options = stormpy.BuilderOptions(build_full=True)
    model = stormpy.build_model(stormpy.parse_prism_program(str(program)), options=options)
    mdp = FiniteMDP.from_storm(model, 0.9)
    stormpy.io.export_to_drn(model, str(tmp_path / "small.drn"))
    again = FiniteMDP.load(tmp_path / "small.drn", 0.9)
    for one in (mdp, again):
        np.testing.assert_array_equal(one.dense(), EXPECTED)
        np.testing.assert_array_equal(one.reward, [[7, 2], [0, 0], [1, 0]])
        np.testing.assert_array_equal(one.initial, [1, 0, 0])
    assert solve(RevOperator(mdp, value=Min()), tolerance=1e-9).converged
    with pytest.raises(InputError, match="no rewards 'gain'; it has 'cost'"):
        FiniteMDP.from_storm(model, 0.9, "gain")
    with pytest.raises(InputError, match="it must be a stormpy MDP or DTMC"):
        FiniteMDP.from_storm(object(), 0.9)


def test_the_command_solves_an_interval_model_in_its_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DRN.replace("1 : 0.5", "1 : [0.4, 0.9]").replace("2 : 1/2", "2 : [0.1, 0.8]")
    path = write(tmp_path, {".drn": text})

    def value_at_the_start(*more: str) -> float:
        monkeypatch.setattr("sys.argv", ["solve", str(path), "--discount", "0.5", *more])
        assert command.main() == 0
        return float(capsys.readouterr().out.split("Value at the start: ")[1].split()[0])

    mdp, worst = IntervalSet.load(path, 0.5)
    assert value_at_the_start() == pytest.approx(solve(RevOperator(mdp, expectation=worst)).v[0], abs=1e-6)
    assert value_at_the_start("--optimistic") > value_at_the_start()
    monkeypatch.setattr("sys.argv", ["solve", str(path), "--discount", "0.5", "--set", "l1:0.1"])
    assert command.main() == 2
    assert "is an interval model, which has its set" in capsys.readouterr().err


def test_a_reward_of_minus_infinity_gets_the_way_out() -> None:
    with pytest.raises(InputError, match=r"reward\[0, 1\] is -inf; .* available=reward > -np\.inf"):
        FiniteMDP.from_arrays(np.ones((1, 2, 1)), [[0.0, -np.inf]], 0.5)
