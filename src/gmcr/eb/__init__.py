"""The paper's solver, EB-gMCR: an energy-based gate selects components per sample.

    settings.py      every constant of the paper's table, by name; the schedules of temperature and usage weight
    networks.py      energies f_e, concentrations f_c and the pool of profiles, the gate that selects
    checkpoints.py   one checkpoint per band of R²; when a run ends by itself
    anchor.py        margins, anchors and the stability horizon (Proposition 2)
    loss.py          the loss and its terms (Eq. 7)
    stepping.py      one optimiser step: back through the layers, and AdamW
    training.py      Algorithm 1
    states.py        the files from which a run goes on; log.py: what it tells of every epoch
    beyond.py        what the paper does not do: prices from the noise, other starts
    progress.py      the bar with the time left

This is the only folder that imports torch, which the extra `eb` installs. Exact decoding is not repeated here: it
is `gmcr.decoder`.
"""
