"""The paper's solver, EB-gMCR: an energy-based gate that selects components per sample.

Here will live the gate, the networks, the loss, the schedules, the checkpoints by R² band, the anchor, and
the estimator `EBgMCR`. This is the only folder that may import torch, which the extra `eb` installs;
nothing outside it may need torch to be imported. Exact decoding is not repeated here: it is
`gmcr.decoding`.
"""
