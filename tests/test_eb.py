"""The paper's solver, formula by formula, against what the paper says of each."""

import json
import shutil
import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch")

from gmcr import Decomposition, EBgMCR, certify, make_mixtures  # noqa: E402
from gmcr.cli.app import main  # noqa: E402
from gmcr.eb import anchor, beyond, log, loss, networks, states, training  # noqa: E402
from gmcr.eb.checkpoints import Bands, Checkpoint, Termination  # noqa: E402
from gmcr.eb.networks import Model, Pass  # noqa: E402
from gmcr.eb.settings import Settings, scaled_rate  # noqa: E402
from gmcr.errors import FileError, InputError  # noqa: E402
from gmcr.io.table import Table  # noqa: E402
from gmcr.metrics import nmse, r_squared  # noqa: E402
from gmcr.scoring import compare  # noqa: E402
from interpreter import python  # noqa: E402

PAPER = Settings()


def random(seed=0):
    return torch.Generator().manual_seed(seed)


def small_model(n_slots=6, n_channels=10, settings=PAPER, signed=False, dtype=torch.float64):
    model = Model(n_channels, n_slots, settings, signed)
    model.initialise(random())
    return model.to(dtype=dtype)


def evaluated(model, X):
    size, spread = float(X.square().sum()), float((X - X.mean(dim=0)).square().sum())
    return training.evaluate(model, X, size, spread)[0]


# The gate


def test_gate_probability_is_the_two_way_softmax():
    energies = torch.randn(50, 4, 2, generator=random(), dtype=torch.float64)
    for temperature in (1.0, 0.4, 0.1):
        softmax = torch.softmax(-energies / temperature, dim=-1)[..., 1]
        torch.testing.assert_close(networks.probabilities(networks.gaps(energies), temperature), softmax)


def test_gate_noise_is_the_difference_of_two_gumbel_variables():
    # P(gap + Z₁ − Z₀ > 0) is the logistic function of the gap.
    gap = torch.full((200_000,), 0.7, dtype=torch.float64)
    share = (networks.probabilities(gap, 1.0, random()) > 0.5).double().mean()
    assert float(share) == pytest.approx(1 / (1 + np.exp(-0.7)), abs=0.005)


def test_floor_is_the_threshold_on_the_probability():
    assert PAPER.gap_floor == pytest.approx(0.143, abs=5e-4)
    gap = torch.linspace(0.1, 0.2, 2001, dtype=torch.float64)
    by_probability = networks.probabilities(gap, PAPER.temperature_eval) > PAPER.threshold
    assert torch.equal(networks.selected(gap, PAPER), by_probability)


def test_a_shift_of_both_energies_cancels_in_the_gate():
    energies = torch.randn(5, 3, 2, generator=random(), dtype=torch.float64)
    torch.testing.assert_close(networks.gaps(energies + 1.6), networks.gaps(energies))


def test_exploration_noise_has_the_papers_scale():
    assert PAPER.exploration == pytest.approx(0.57, abs=0.005)
    noise = networks.perturbed(torch.zeros(100_000, dtype=torch.float64), PAPER.exploration, random())
    assert float(noise.std()) == pytest.approx(PAPER.exploration, rel=0.01)


# Networks


def test_layers_have_the_papers_sizes_and_initial_spread():
    n, d = 64, 100
    model = Model(d, n, PAPER)
    model.initialise(random())
    shapes = [tuple(layer.weight.shape) for layer in model.energy if hasattr(layer, "weight")]
    assert shapes == [(4 * n, d), (4 * n, 4 * n), (2 * n, 4 * n)]
    shapes = [tuple(layer.weight.shape) for layer in model.concentration if hasattr(layer, "weight")]
    assert shapes == [(2 * n, d), (2 * n, 2 * n), (n, 2 * n)]
    gate_parameters = (d + 1) * 4 * n + (4 * n + 1) * 4 * n + (4 * n + 1) * 2 * n
    amount_parameters = (d + 1) * 2 * n + (2 * n + 1) * 2 * n + (2 * n + 1) * n
    assert sum(p.numel() for p in model.parameters()) == gate_parameters + amount_parameters + n * d
    for network, spread in ((model.energy, 0.05), (model.concentration, 0.01)):
        for layer in network:
            if hasattr(layer, "weight"):
                assert float(layer.weight.detach().std()) == pytest.approx(spread, rel=0.05)
                assert not layer.bias.any()
    assert float(model.profile.detach().square().mean().sqrt()) == pytest.approx(0.1, rel=0.05)
    assert (model.profile >= 0).all()


def test_pool_has_unit_norm_and_signs_only_where_asked():
    model = small_model()
    with torch.no_grad():
        model.profile.sub_(0.05)
    pool = model.pool()
    torch.testing.assert_close(pool.norm(dim=1), torch.ones(6, dtype=torch.float64))
    assert (pool >= 0).all()
    signed = small_model(signed=True)
    assert (signed.pool() < 0).any()
    X = torch.rand(20, 10, generator=random(), dtype=torch.float64)
    assert (signed.evaluate(X).amounts < 0).any()
    assert (small_model().evaluate(X).amounts >= 0).all()


def test_evaluation_reconstructs_from_selected_slots_alone():
    model = small_model()
    X = torch.rand(7, 10, generator=random(), dtype=torch.float64)
    out = model.evaluate(X)
    E = PAPER.energy_offset - out.energies  # the paper's energies
    chosen = E[..., 0] - E[..., 1] > PAPER.gap_floor
    for m in range(7):
        expected = sum(
            (float(out.amounts[m, j]) * model.pool()[j] for j in range(6) if chosen[m, j]), torch.zeros(10)
        )
        torch.testing.assert_close(out.fit[m], expected.to(torch.float64))


def test_evaluation_with_the_gates_noise_is_another_draw_each_time():
    model = small_model(n_slots=40)
    X = torch.rand(50, 10, generator=random(), dtype=torch.float64)
    out = model.evaluate(X, random(1))
    expected = torch.sigmoid(out.gap - PAPER.gap_floor).mean()  # P(gap + logistic noise > floor)
    assert float(out.gate.mean()) == pytest.approx(float(expected), abs=0.03)
    assert not torch.equal(out.gate, model.evaluate(X, random(2)).gate)
    assert torch.equal(model.evaluate(X).gate, model.evaluate(X).gate)


def test_mean_energy_starts_near_the_offset():
    X = torch.rand(30, 10, generator=random(), dtype=torch.float64)
    assert evaluated(small_model(), X).mean_energy == pytest.approx(1.6, abs=0.2)


# The loss


def test_ambiguity_is_the_mean_kernel_over_pairs_in_use():
    pool = small_model().pool().detach()
    gating = torch.zeros(3, 6, dtype=torch.float64)
    gating[0, 1], gating[1, 3], gating[2, 4], gating[0, 5] = 0.9, 0.6, 0.51, 0.5  # slot 5 is not above 0.5
    pairs = [float(torch.exp(-(pool[i] - pool[j]).square().sum() / 2)) for i, j in combinations((1, 3, 4), 2)]
    assert float(loss.ambiguity_term(pool, gating, 0.5, 1.0)) == pytest.approx(np.mean(pairs))
    assert float(loss.ambiguity_term(pool, gating * 0.5, 0.5, 1.0)) == 0.0


def test_terms_are_means():
    X, pool = torch.ones(2, 5), torch.ones(3, 5)
    gating = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    out = Pass(torch.full((2, 3, 2), 3.0), gating, gating, gating, pool, torch.zeros(2, 5))
    only = replace(PAPER, usage_weight=0.0, energy_weight=0.0, ambiguity_weight=0.0)
    assert float(loss.total_loss(X, out, 1.0, only)) == 1.0
    assert float(loss.total_loss(X, out, 1.0, replace(only, usage_weight=1.0))) == 1.25
    assert float(loss.total_loss(X, out, 1.0, replace(only, energy_weight=1.0))) == 10.0


@pytest.mark.parametrize("term", ["fit_weight", "usage_weight", "energy_weight", "ambiguity_weight"])
@pytest.mark.parametrize("signed", [False, True])
def test_gradients_of_every_term_against_finite_differences(term, signed):
    off = dict.fromkeys(("fit_weight", "usage_weight", "energy_weight", "ambiguity_weight"), 0.0)
    settings = replace(PAPER, **(off | {term: 1.0}))
    model = small_model(4, 6, settings, signed)
    for parameter in model.parameters():  # away from the kinks of |·| and ReLU, which sit at the small start
        torch.nn.init.normal_(parameter.data, 0.0, 0.5, generator=random(3))
    X = torch.rand(5, 6, generator=random(1), dtype=torch.float64)

    def value():
        out = model.gated(model.energy(X), model.concentration(X), model.pool(), 0.7, random(2))
        return loss.total_loss(X, out, 1.0, settings)

    model.zero_grad()
    value().backward()
    gradients = {name: p.grad for name, p in model.named_parameters()}
    step = 1e-6
    checked = 0
    for name, parameter in model.named_parameters():
        flat = parameter.data.view(-1)
        for index in range(0, flat.numel(), max(1, flat.numel() // 5)):
            old = float(flat[index])
            flat[index] = old + step
            up = float(value().detach())
            flat[index] = old - step
            down = float(value().detach())
            flat[index] = old
            gradient = gradients[name]
            found = 0.0 if gradient is None else float(gradient.view(-1)[index])
            assert found == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-7)
            checked += found != 0.0
    assert checked > 3


@pytest.mark.parametrize("signed", [False, True])
def test_a_step_is_that_of_torchs_autograd_and_optimiser(signed):
    settings = replace(PAPER, energy_weight=0.1, ambiguity_weight=0.1)  # all terms felt
    X = torch.rand(7, 8, generator=random(1), dtype=torch.float64)
    run = training.start(X, 5, settings, signed=signed)
    run.usage_weight, run.slot_weight = 0.3, 0.2
    twin = small_model(5, 8, settings, signed)
    twin.load_state_dict(run.model.state_dict())
    theirs = torch.optim.AdamW(
        twin.parameters(),
        lr=5e-4,
        betas=(0.9, 0.995),
        eps=1e-8,
        weight_decay=1e-3,
        fused=False,
        foreach=False,
    )
    for step in range(4):
        run.random = random(step)
        training.learn(run, X, run.model.inside(X), 0.7)
        out = twin.gated(twin.energy(X), twin.concentration(X), twin.pool(), 0.7, random(step))
        theirs.zero_grad()
        loss.total_loss(X, out, 0.3, settings, 0.2).backward()
        theirs.step()
        for name, weights in run.model.state_dict().items():
            torch.testing.assert_close(weights, twin.state_dict()[name], rtol=1e-9, atol=1e-12)


def test_the_first_step_of_an_epoch_takes_the_networks_values_from_the_evaluation_before():
    X = torch.rand(12, 10, generator=random(1))
    run = training.start(X, 6, replace(PAPER, batch_size=5))
    training.one_epoch(run, X)
    for ahead, now in zip(run.ahead.energy, run.model.inside(X).energy, strict=True):
        assert torch.equal(ahead, now)


# Schedules


def test_temperature():
    at = [PAPER.temperature(epoch) for epoch in (0, 99, 100, 5_999, 6_000, 50_000)]
    assert at == pytest.approx([1.0, 1.0, 0.99, 0.41, 0.4, 0.4])


def test_usage_weight_follows_its_target():
    assert PAPER.usage_target(0.005, 2.0, 1.5, 256) == 0.0
    assert PAPER.usage_target(0.004, 2.0, 1.6, 256) == pytest.approx(2.0 * 256 / 1.6)
    weight, expected = 0.0, []
    for target in (0.0, 10.0, 10.0, 0.0, 4.0):
        weight = PAPER.smoothed(weight, target)
        expected.append(weight)
    assert expected == pytest.approx([0.0, 0.5, 0.975, 0.92625, 1.0799375])


def test_window_price_is_that_of_theorem_1():
    # A weight w on usage/pool against a mean over channels is a price w · channels / pool per selection.
    weight = PAPER.window_target(0.001, 0.04, 256, 512, 16, 64)
    assert weight * 512 / 256 == pytest.approx(0.04 * 2 * np.log(6 * 16 * 64 / 0.05))
    assert PAPER.window_target(0.01, 0.04, 256, 512, 16, 64) == 0.0


def test_rate_for_small_pools():
    assert scaled_rate(1024) == 5e-4
    assert scaled_rate(256) == pytest.approx(2e-3)
    assert scaled_rate(64) == pytest.approx(2e-3)
    assert scaled_rate(2048) == 5e-4


# Checkpoints and termination


def test_bands_are_closed_on_the_left():
    bands = Bands(0.97, 0.005)
    edges = {
        0.9699: None,
        0.97: 0,
        0.97499: 0,
        0.975: 1,
        0.98: 2,
        0.985: 3,
        0.99: 4,
        0.995: 5,
        0.9999: 5,
        1.0: None,
    }
    assert {r2: bands.band_of(r2) for r2 in edges} == edges
    assert bands.edges(5) == (0.995, 1.0)
    real = Bands(0.95, 0.005)
    assert [real.band_of(0.95 + 0.005 * k) for k in range(10)] == list(range(10))


def test_replacement_rule():
    bands = Bands(0.97, 0.005)
    assert bands.wants(0.981, 20)
    bands.keep(Checkpoint(1, 20, 0.981, 100))
    assert not bands.wants(0.984, 21)
    assert bands.wants(0.9801, 19)
    assert bands.wants(0.981, 20)  # as many, and R² not lower
    assert not bands.wants(0.9809, 20)
    assert bands.wants(0.986, 90)  # another band, still empty
    assert not bands.wants(0.5, 1)
    bands.keep(Checkpoint(2, 18, 0.992, 90))
    bands.keep(Checkpoint(3, 18, 0.996, 95))
    assert bands.edges(bands.fewest()) == (0.995, 1.0)  # as few, and the higher R²
    assert bands.kept[bands.with_edges((0.98, 0.985))].count == 20
    with pytest.raises(InputError, match="no checkpoint was kept"):
        bands.with_edges((0.97, 0.975))
    with pytest.raises(InputError, match="no band"):
        Bands().fewest()


def ends(nmses, energies):
    termination = Termination(PAPER)
    return [termination.update(a, b) for a, b in zip(nmses, energies, strict=True)]


def test_termination_needs_all_three_conditions():
    enter, wild, calm = [0.5, 0.5, 0.009], [0.02] * 101, [0.001] * 101
    high, low = 1.6, 0.3
    assert not any(ends([0.5] * 300, [low] * 300))  # never reconstructs
    assert not any(ends(enter + calm + calm, [high] * 3 + [low] * 202))  # no oscillation
    assert not any(ends(enter + wild + calm, [high] * 205))  # energy too high
    assert ends(enter + wild + calm, [high] * 3 + [high] * 101 + [low] * 101).index(True) == 104
    # Oscillation stays satisfied; a full window after entry is needed for it.
    assert ends(enter + wild, [high] * 3 + [low] * 101) == [False] * 103 + [True]
    assert not any(ends(enter + wild[:100], [high] * 3 + [low] * 100))


def test_initial_energy_is_the_mean_up_to_entry():
    termination = Termination(PAPER)
    for nmse_now, energy in ((0.5, 1.0), (0.2, 2.0), (0.005, 3.0), (0.005, 9.0)):
        termination.update(nmse_now, energy)
    assert termination.entered == 2
    assert termination.initial_energy == pytest.approx(2.0)


def test_metrics_are_the_papers():
    model = small_model(dtype=torch.float32)
    X = torch.rand(40, 10, generator=random())
    found = evaluated(model, X)
    fit = model.evaluate(X).fit.detach().double().numpy()
    assert found.r2 == pytest.approx(r_squared(X.double().numpy(), fit), rel=1e-5)
    assert found.nmse == pytest.approx(nmse(X.double().numpy(), fit), rel=1e-5)
    chosen = model.evaluate(X).gate.numpy() > 0
    assert (found.count, found.usage) == (chosen.any(axis=0).sum(), chosen.sum())
    assert found.single_users == (chosen.sum(axis=0) == 1).sum()


# What the paper does not do


def test_noise_and_count_are_read_off_the_singular_values():
    mix = make_mixtures(n_components=6, n_samples=80, snr_db=25, n_features=120, random_state=3)
    X = torch.as_tensor(mix.D, dtype=torch.float32)
    assert beyond.noise_variance(X) == pytest.approx(np.mean(mix.sigma**2), rel=0.05)
    parts = beyond._parts(X)
    assert len(parts) == 11  # two of each vector above the noise, but one of the first
    assert (parts >= 0).all()


@pytest.mark.parametrize("start", ["samples", "singular"])
def test_starts_are_as_long_as_the_random_one_and_near_what_they_start_from(start):
    mix = make_mixtures(n_components=4, n_samples=20, snr_db=25, n_features=60, random_state=3)
    X = torch.as_tensor(mix.D, dtype=torch.float32)
    run = training.start(X, 50, replace(PAPER, start=start))
    plain = training.start(X, 50, PAPER)
    torch.testing.assert_close(
        run.model.profile.norm(dim=1), plain.model.profile.norm(dim=1), rtol=0.1, atol=0
    )
    towards = X if start == "samples" else torch.as_tensor(beyond._parts(X), dtype=torch.float32)
    cosines = run.model.pool() @ torch.nn.functional.normalize(towards, dim=1).T
    own = torch.arange(50) % len(towards)
    assert (cosines[torch.arange(50), own] > 0.98).all()
    assert (run.model.profile >= 0).all()
    assert torch.equal(run.model.energy[0].weight, plain.model.energy[0].weight)
    with pytest.raises(InputError, match="start must be one of random, samples, singular, not 'best'"):
        replace(PAPER, start="best")


def test_slots_in_use_and_what_they_cost():
    gating = torch.tensor([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0]], requires_grad=True)
    used = loss.slots_in_use(gating)
    assert used.tolist() == [1.0, 0.75, 0.0]
    used.sum().backward()
    assert gating.grad[0].tolist() == [0.0, 0.5, 1.0]  # a slot with another user costs nothing more
    # A slot in use costs p · channels · σ² of the sum of squares over samples and channels.
    weight = replace(PAPER, slot_price=2.5).slot_target(0.009, 0.04, 256, 64)
    assert weight / 256 * 64 * 512 == pytest.approx(2.5 * 512 * 0.04)
    assert replace(PAPER, slot_price=2.5).slot_target(0.01, 0.04, 256, 64) == 0.0


def test_prices_from_the_noise_come_when_the_run_reconstructs():
    X = torch.rand(20, 12, generator=random())
    run = training.start(X, 6, replace(PAPER, slot_price=2.5), usage_schedule="noise")
    found = training.evaluate(run.model, X, run.size, run.spread)[0]
    training.reprice(run, replace(found, nmse=0.02), X)
    assert (run.usage_weight, run.slot_weight) == (0.0, 0.0)
    training.reprice(run, replace(found, nmse=0.009, count=3), X)
    assert run.usage_weight == pytest.approx(0.05 * run.noise * 2 * np.log(6 * 3 * 20 / 0.05) * 6 / 12)
    assert run.slot_weight == pytest.approx(0.05 * 2.5 * run.noise * 6 / 20)
    assert training.start(X, 6, PAPER).noise == 0.0  # the paper's solver is told nothing


# Anchors


def test_anchors_are_read_off_the_mean_gaps():
    gaps = np.array([[0.1, -0.3], [0.3, -0.3], [0.4, -0.2], [0.3, 0.5], [0.1, 0.6]])
    found = anchor.anchors(gaps, 0.25)
    assert [(event.epoch, event.held) for event in found] == [(1, 2), (3, 2)]
    assert found[0].margin == pytest.approx(0.3)
    assert anchor.anchors(gaps, 1.0) == []


def test_lipschitz_bound_bounds_the_gradient():
    model = small_model()
    X = torch.rand(8, 10, generator=random(), dtype=torch.float64)
    bound = anchor.lipschitz_bound(model.energy, X)
    for x in X:
        for output in range(12):
            model.zero_grad()
            model.energy(x[None])[0, output].backward()
            norm = sum(float(p.grad.square().sum()) for p in model.energy.parameters()) ** 0.5
            assert norm <= bound


def test_horizon_and_deviation_level():
    assert anchor.horizon(8.0, 1.0, 4, 0.5) == 1  # 8 / (4 · 2 · 1 · 2 · 0.5)
    assert anchor.horizon(0.1, 100.0, 10_000, 5e-4) == 0
    level = anchor.deviation_level(2.0, 3.0, 5.0, 7, 4, 100, 0.05)
    inner = np.log(8 / 0.05) + 7 * np.log(3 + 2 * 5 * 6 * 10 / 2)
    assert level == pytest.approx(4 * np.sqrt(2 * inner / 100) + 4 / 10)


# Runs


@pytest.fixture(scope="module")
def mix():
    return make_mixtures(n_components=4, n_samples=40, snr_db=30, n_features=48, random_state=1)


def short_run(mix, **options):
    settings = {"pool_size": 16, "max_epochs": 30, "learning_rate": 2e-3} | options
    return EBgMCR(**settings).fit(mix.D)


def test_a_seed_is_a_run(mix):
    first, second, other = short_run(mix), short_run(mix), short_run(mix, random_state=1)
    np.testing.assert_allclose(first.history_, second.history_, rtol=1e-5)
    assert not np.allclose(first.history_["nmse"], other.history_["nmse"])


@pytest.mark.parametrize("batch_size", [16, 64])
@pytest.mark.parametrize("killed_at", [7, 20])
def test_a_killed_run_goes_on_bit_for_bit(mix, tmp_path, killed_at, batch_size):
    options = {"max_epochs": 40, "lowest_band": -5.0, "settings": replace(PAPER, batch_size=batch_size)}
    whole = short_run(mix, **options)

    def kill(row):
        if row.epoch == killed_at:
            raise SystemExit

    def files():
        return sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".pt")

    with pytest.raises(SystemExit):
        short_run(mix, **options, folder=tmp_path, save_every=5, callback=kill)
    resumed = short_run(mix, **options, folder=tmp_path, save_every=5)
    pd.testing.assert_frame_equal(resumed.history_, whole.history_, check_exact=True)
    np.testing.assert_array_equal(resumed.final_.components, whole.final_.components)
    assert len(whole.bands_) > 2
    for own, other in zip(resumed.bands_, whole.bands_, strict=True):
        assert own.epoch == other.epoch
        np.testing.assert_array_equal(own.decomposition.concentrations, other.decomposition.concentrations)
    np.testing.assert_array_equal(resumed._mean_gaps, whole._mean_gaps)
    assert log.read_margins(tmp_path, 16).shape == (40, 16)
    assert len((tmp_path / log.HISTORY_FILE).read_text().splitlines()) == 41
    assert len(files()) == len(whole.bands_) + 1  # each state once


def test_a_run_killed_without_warning_loses_only_what_came_after_its_last_state(mix, tmp_path):
    options = {"max_epochs": 40, "lowest_band": -5.0}
    whole = short_run(mix, **options)
    copy = tmp_path / "as it was"

    def look(row):
        if row.epoch == 17:  # between two states, with logs that are ahead of the state
            shutil.copytree(tmp_path / "run", copy)

    short_run(mix, **options, folder=tmp_path / "run", save_every=7, callback=look)
    resumed = short_run(mix, **options, folder=copy, save_every=7)
    pd.testing.assert_frame_equal(resumed.history_, whole.history_, check_exact=True)
    np.testing.assert_array_equal(resumed._mean_gaps, whole._mean_gaps)


def test_a_state_does_not_grow_with_the_run_nor_memory_with_its_checkpoints(mix, tmp_path):
    X = torch.as_tensor(mix.D, dtype=torch.float32)
    run = training.start(X, 16, PAPER, lowest_band=-5.0, folder=tmp_path)
    sizes, places, epochs = [], set(), set()
    for most in (150, 300):
        while run.epoch < most:
            training.one_epoch(run, X)
            places |= {kept.tensors["profile"].data_ptr() for kept in run.bands.kept.values()}
            epochs |= {kept.epoch for kept in run.bands.kept.values()}
        states.save(run, X, run.log)
        sizes.append((tmp_path / states.STATE_FILE).stat().st_size)
    assert sizes[1] < 1.05 * sizes[0]
    assert len(places) <= len(run.bands.kept) + 1 < len(epochs)  # many checkpoints, few places


def test_an_epoch_that_was_interrupted_is_no_state(mix, tmp_path, monkeypatch):
    options = {"max_epochs": 20, "settings": replace(PAPER, batch_size=16)}
    whole, learn, steps = short_run(mix, **options), training.learn, []

    def interrupted(*arguments):
        steps.append(learn(*arguments))
        if len(steps) == 3 * 11 + 2:  # three steps an epoch
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "learn", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        assert short_run(mix, **options, folder=tmp_path, save_every=5).n_epochs_ == 11
    monkeypatch.setattr(training, "learn", learn)
    resumed = short_run(mix, **options, folder=tmp_path, save_every=5)
    pd.testing.assert_frame_equal(resumed.history_, whole.history_, check_exact=True)


def test_a_folder_of_another_run_is_refused(mix, tmp_path):
    short_run(mix, folder=tmp_path)
    state = tmp_path / states.STATE_FILE
    with pytest.raises(FileError, match="other data or settings"):
        short_run(mix, folder=tmp_path, learning_rate=1e-3)
    state.write_bytes(b"not a state")
    with pytest.raises(FileError, match="not the state of a run"):
        short_run(mix, folder=tmp_path)


def test_interrupted_run_keeps_what_it_has(mix):
    def stop(row):
        if row.epoch == 5:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        model = short_run(mix, callback=stop)
    assert model.n_epochs_ == 6


@pytest.fixture(scope="module")
def trained(mix):
    return short_run(mix, pool_size=24, max_epochs=1500, lowest_band=0.5)


def test_a_band_can_be_certified(mix, trained):
    certificate = certify(mix.D, trained.select("final"), noise=mix.sigma)
    assert certificate.verdict in ("consistent", "unsupported")
    assert not certificate.known_pool


def test_bands_hold_their_states(mix, trained):
    assert trained.bands_
    for band in trained.bands_:
        assert band.low <= band.r2 < band.high
        assert band.count == band.decomposition.n_components == len(band.slots)
        assert band.usage == band.decomposition.usage
        assert band.decomposition.r2(mix.D) == pytest.approx(band.r2, abs=1e-4)
    fewest = trained.select()
    assert fewest.n_components == min(band.count for band in trained.bands_)
    low, high = trained.bands_[-1].low, trained.bands_[-1].high
    assert trained.select(band=(low, high)) is trained.bands_[-1].decomposition
    assert trained.select("final") is trained.final_
    with pytest.raises(InputError, match="rule must be"):
        trained.select("best")
    with pytest.raises(InputError, match=r"band must be \(low, high\), two values of R², not 1.0"):
        trained.select(0.9, 1.0)


def test_three_decoders(mix, trained):
    by_gate = trained.decode(mix.D, "gate").concentrations
    np.testing.assert_allclose(by_gate, trained.select().concentrations, rtol=1e-4, atol=1e-5)
    floored = trained.decode(mix.D, "floor", floor=0.5).concentrations
    assert ((floored > 0) == (by_gate > 0.5)).all()
    exact = trained.decode(mix.D, "exact").concentrations
    assert exact.shape == by_gate.shape
    np.testing.assert_array_equal(trained.transform(mix.D), by_gate)
    with pytest.raises(InputError, match="by must be"):
        trained.decode(mix.D, "luck")


def test_refine_finishes_what_the_run_began(mix, trained):
    refined = trained.refine(mix.D)
    assert refined.model.n_components_ == 4
    assert compare(refined.model, mix).exact == 1.0
    assert refined.scratch.n_components_ == 4
    assert refined.survived.shape == (4,)


def test_anchor_table(trained):
    table = trained.anchors(0.01)
    assert len(table)
    assert (table["held_epochs"] >= 1).all()
    assert (table["certified_steps"] == 0).all()  # as expected at this scale
    assert len(trained.anchors(1e9)) == 0


def test_window_schedule_and_signed_run(mix):
    model = short_run(mix, usage="window", signed=True, max_epochs=10)
    assert len(model.history_) == 10
    assert (model.final_.components < 0).any()


def test_bad_calls(mix):
    for options in (
        *({"pool_size": 0}, {"usage": "free"}, {"learning_rate": "fast"}, {"max_epochs": 1.5}),
        *({"learning_rate": wrong} for wrong in ([1], np.nan, -1.0)),
        *({"lowest_band": wrong} for wrong in ("a", np.nan, 2.0)),
        *({"device": wrong} for wrong in ("bogus", None, "cuda:99")),
        *({"folder": 5}, {"callback": 3}),
    ):
        with pytest.raises(InputError, match=next(iter(options))):
            short_run(mix, **options)
    with_gap = mix.D.copy()
    with_gap[0, 0] = np.nan
    with pytest.raises(InputError, match="missing"):
        EBgMCR(pool_size=4, max_epochs=1).fit(with_gap)


def test_calls_of_a_trained_one_that_cannot_be(mix, trained):
    for options in ({"floor": "x", "by": "floor"}, {"band": 5}, {"band": ("a", "b")}):
        with pytest.raises(InputError, match=next(iter(options))):
            trained.decode(mix.D, **options)
    before = vars(trained).copy()
    with pytest.raises(InputError, match="pool_size"):
        trained.set_params(pool_size=0).fit(mix.D[:, :9])
    assert vars(trained) == before | {"pool_size": 0}
    trained.set_params(pool_size=before["pool_size"])


def test_parameters_changed_since_belong_to_the_next_fit(mix):
    model = short_run(mix)
    C = model.transform(mix.D)
    np.testing.assert_array_equal(model.set_params(pool_size=4, signed=True).transform(mix.D), C)


def test_axis_and_names_are_kept(mix):
    axis = np.linspace(400.0, 700.0, mix.D.shape[1])
    names = tuple(f"s{m}" for m in range(len(mix.D)))
    model = EBgMCR(pool_size=8, max_epochs=3).fit(Table(mix.D, axis=axis, sample_names=names))
    np.testing.assert_array_equal(model.decomposition_.axis, axis)
    assert model.final_.sample_names == names
    with pytest.raises(InputError, match="different axes"):
        model.decode(Table(mix.D, axis=axis + 9.0))


@pytest.mark.parametrize("state", [np.random.default_rng(0), np.random.RandomState(0), None, 3])
def test_what_a_file_cannot_hold_is_left_out(mix, tmp_path, state):
    model = EBgMCR(pool_size=8, max_epochs=3, random_state=state, device=torch.device("cpu")).fit(mix.D)
    model.save(tmp_path / "run.gmcr")
    again = EBgMCR.load(tmp_path / "run.gmcr")
    assert (again.random_state, again.device) == (state if isinstance(state, int | None) else 0, "cpu")
    np.testing.assert_array_equal(again.transform(mix.D), model.transform(mix.D))


def test_command_line(mix, tmp_path, capsys):
    np.savetxt(tmp_path / "mix.csv", mix.D, delimiter=",")
    fit = ["fit", str(tmp_path / "mix.csv"), "-o", str(tmp_path / "run"), "--solver", "eb", "--pool", "16"]
    assert main([*fit, "--max-epochs", "20"]) == 0
    assert "20 epochs, not ended by the termination rule" in capsys.readouterr().out
    history = pd.read_csv(tmp_path / "run" / "history.csv")
    assert len(history) == 20
    found = Decomposition.load(tmp_path / "run" / "model.gmcr")
    assert found.n_channels == 48
    assert main([*fit, "--max-epochs", "30"]) == 2  # a finished run is not replaced unasked
    capsys.readouterr()
    assert main([*fit, "--max-epochs", "25", "--force", "--usage", "window", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epochs"] == 25


def test_without_torch_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import gmcr\n"
        "try:\n    gmcr.EBgMCR\nexcept ImportError as error:\n    print(error)\n"
    )
    assert python(code).strip() == "EBgMCR needs torch; install it with: pip install 'gmcr[eb]'"


@pytest.mark.parametrize("signed", [False, True])
def test_scikit_learns_checks(signed):
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(EBgMCR(pool_size=4, max_epochs=2, signed=signed))


def test_the_way_back_and_names(mix, trained):
    C = trained.transform(mix.D)
    assert C.shape == (len(mix.D), trained.n_components_)
    assert list(trained.get_feature_names_out()) == [f"component {j}" for j in range(trained.n_components_)]
    np.testing.assert_allclose(trained.inverse_transform(C), C @ trained.components_)
    with pytest.raises(InputError, match="columns and the model has"):
        trained.inverse_transform(C[:, :-1])


def test_alpha_reaches_the_certificate(mix, trained):
    assert trained.certify(mix.D, alpha=0.2).alpha == 0.2
