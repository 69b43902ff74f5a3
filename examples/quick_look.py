"""When you need none of this: the rank rules for the count, plain NMF for the profiles.

Enough where there are fewer components than channels and samples, the noise is white up to a scaling, and only
count and profiles matter.

python examples/quick_look.py
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import NMF

from gmcr import estimate_rank, make_mixtures
from gmcr.scoring import compare


def main() -> None:
    mix = make_mixtures(n_components=8, n_samples=64, snr_db=25, n_features=128, random_state=0)
    look = estimate_rank(mix.D)
    print(look)

    D = mix.D.clip(0)  # NMF takes no negative values, not even of noise
    nmf = NMF(look.count, init="nndsvda", max_iter=500, random_state=0)
    C = nmf.fit_transform(D)
    found = compare((nmf.components_, C), mix)
    print(f"\nSmallest cosine between a found and a true profile: {found.min_cos:.3f}")

    held = np.count_nonzero(C / C.max() > 1e-3) / len(C)
    print(f"Components per sample: {mix.supports.sum(axis=1).mean():.1f} in truth, {held:.1f} by NMF,")
    print("whose small concentrations are not zeros. Which sample holds what is the part it leaves open.")
    assert look.count == 8
    assert found.min_cos > 0.95


if __name__ == "__main__":
    main()
