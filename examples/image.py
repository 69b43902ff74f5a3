"""An image whose pixels are spectra: unfolded into samples, unmixed, and folded back into maps.

python examples/image.py
"""

from __future__ import annotations

import numpy as np

import gmcr


def main() -> None:
    rng = np.random.default_rng(0)
    channels = np.arange(60)
    S = np.exp(-0.5 * ((channels - np.array([[15], [30], [45]])) / 5) ** 2)  # three bands
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    picture = np.zeros((8, 12, 3))  # (y, x, component)
    picture[:, :5, 0] = rng.uniform(1, 10, (8, 5))
    picture[:, 4:9, 1] = rng.uniform(1, 10, (8, 5))
    picture[:4, 7:, 2] = rng.uniform(1, 10, (4, 5))
    picture[4:, 7:, 0] = rng.uniform(1, 10, (4, 5))
    cube = picture @ S + 0.02 * rng.standard_normal((8, 12, 60))
    cube[0, 0] = np.nan  # a dead pixel stays NaN in every map

    D, pixels = gmcr.unfold(cube)
    model = gmcr.GMCR(random_state=0).fit(D)
    maps = pixels.refold(model.concentrations_)
    print(f"{model.n_components_} components in {len(D)} pixels; maps of shape {maps.shape}")

    order = np.argsort(model.components_.argmax(axis=1))  # by the place of their band
    for j, name in zip(order, "abc"):
        print(f"\ncomponent {name}")
        for row in maps[..., j]:
            print("".join("?" if np.isnan(value) else "#" if value > 0 else "." for value in row))
    alive = np.isfinite(maps[..., 0])
    assert ((maps[..., order] > 0) == (picture > 0))[alive].all()
    assert not alive[0, 0]


if __name__ == "__main__":
    main()
