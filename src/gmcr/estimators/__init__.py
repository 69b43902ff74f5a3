"""The estimators: check what comes in, call a solver, store what it found.

    base.py          `Unmixer`, the scikit-learn transformer; `Solver`, the contract of both solvers
    window.py        `GMCR`, with parameters.py, which turns its parameters into the solver's options
    eb.py            `EBgMCR`; it alone here imports torch
    labels.py        channel axis and sample names of what was given

Nothing below imports from here. What does not belong here: any algorithm.
"""
