"""What can be said about a solution: the paper's theorems as computations.

    spark.py         the spark margin of a pool, as an interval (Definition 1)
    window.py        the window of prices (Theorem 1), noise levels (Theorem 2)
    pairs.py         isolating pairs, and groups of components that the samples never separate
    certificate.py   the verdict on conditions C1 to C11 (conditions.py, facts.py; Theorem 2)
    ambiguity.py     how differently components could look and fit as well, with feasible_bands.py,
                     balancing.py, limits.py, transformations.py, extremes.py and feasible_plane.py
    next_sample.py   which sample would close that (further_samples.py, draws.py)

Everything takes arrays or a `Decomposition` and returns numbers or tables; no solver may be called from here, so
that a certificate holds for a solution from anywhere.
"""
