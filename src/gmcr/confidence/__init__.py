"""How sure supports and concentrations are, over a pool that is known or was learned.

    supports.py          how probably each support is right (Theorem 3a), with weighing.py, and neighbours.py and
                         averages.py below it, compiled
    support_law.py       the law of supports and concentrations that is assumed
    standard_errors.py   of concentrations and profiles, and intervals from them
    pool_errors.py       what the errors of a learned pool do to samples decoded over it
    completion.py, uncut.py
                         a learned pool without what missed components and cuts have put into it
    stated.py            whether it can be said at all: not where what is left over is no white noise
    recalibration.py     from stated to honest confidence

Arrays in, numbers out. The solver and the decoder are built on this, so nothing here may call them.
"""
