"""The headline figures against the tables (C34): each number here is computed apart from the module's texts."""

from __future__ import annotations

from property_tests.claims import claim
from pyresac.formal.headlines import (
    ANT_MAE,
    ANT_MEAN,
    ANT_WORST,
    B0_ON_ANT,
    CHANNEL,
    CORRIDOR,
    RARENESS_MAE,
    RESAMPLED_EVERY,
    STEPS,
    headlines,
    reduction,
)


@claim("C34")
def test_ratios_that_hold() -> None:
    assert round(float(reduction(RARENESS_MAE["RE-SAC"], RARENESS_MAE["SAC"]))) == 62
    assert round(float(reduction(ANT_MAE["RE-SAC v1"], ANT_MAE["DSAC"]))) == 55
    assert round(float(reduction(ANT_MAE["RE-SAC v1"], ANT_MAE["SAC"]))) == 41
    ours = ANT_WORST["RE-SAC (B0)"]
    assert round(ours / ANT_WORST["SAC"], 1) == 1.1
    assert round(ours / ANT_WORST["DSAC"], 1) == 3.1
    assert int(ours / ANT_WORST["BAC"]) == 14
    assert round(float(CORRIDOR["without λ_ale"][0] / CORRIDOR["full"][0]), 1) == 2.4
    assert round(100 * (CHANNEL["on", "clean"] / CHANNEL["off", "clean"] - 1)) == 22
    assert round(100 * (CHANNEL["on", "noisy"] / CHANNEL["off", "noisy"] - 1)) == -30


@claim("C34")
def test_figures_that_do_not_hold() -> None:
    deviations = CORRIDOR["without λ_ale"][1] / CORRIDOR["full"][1]
    assert round(float(deviations), 1) == 12.5
    assert round(float(deviations**2)) == 157
    assert max(ANT_MEAN, key=lambda name: ANT_MEAN[name]) == "DSAC"
    assert STEPS / RESAMPLED_EVERY == 400
    assert len(set(B0_ON_ANT.values())) == 6
    assert max(B0_ON_ANT.values()) > 3 * min(B0_ON_ANT.values())


@claim("C34")
def test_the_printed_list_says_the_same() -> None:
    found = {h.printed.split(" ")[0]: h for h in headlines()}
    assert found["11"].recomputed == "157 × the variance, 12.5 × the deviation"
    assert found["gravity"].recomputed == "400 tasks"
    assert found["+22"].recomputed == "+21.7 %, -29.8 %"
    assert [h.agrees for h in headlines()].count(False) == 5
    assert all(h.remark for h in headlines() if not h.agrees)
