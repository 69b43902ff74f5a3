"""A learned pool decodes new samples, and flags those that hold something it has never seen.

python examples/unknown_samples.py
"""

from __future__ import annotations

import numpy as np

from gmcr import GMCR, make_mixtures


def main() -> None:
    mix = make_mixtures(n_components=8, n_samples=60, snr_db=25, n_features=128, random_state=0)
    seen, new = mix.D[:50], mix.D[50:].copy()
    model = GMCR(random_state=0).fit(seen)

    stranger = np.exp(-0.5 * ((np.arange(128) - 64) / 4) ** 2)  # a component that no training sample held
    new[:3] += 5 * stranger / np.linalg.norm(stranger)

    out = model.decode(new)
    low, high = out.intervals(0.95)
    print("sample  known  components  largest concentration (95 %)")
    for m, known in enumerate(out.known):
        j = out.concentrations[m].argmax()
        most, interval = out.concentrations[m, j], f"{low[m, j]:.2f} to {high[m, j]:.2f}"
        print(f"{m:<6}  {'yes' if known else 'NO':<5}  {out.supports[m].sum():<10}  {most:.2f} ({interval})")
    assert (out.known == (np.arange(10) >= 3)).all()


if __name__ == "__main__":
    main()
