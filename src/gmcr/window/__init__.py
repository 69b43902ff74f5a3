"""The window solver: count, profiles, supports and noise from the samples alone.

    solver.py            the course of a run: which searches are tried, and the choice among what they find
    search.py            one run: what was asked for, and the cheapest state at each count
    problem.py           the data and the criterion; a state, and what it costs
    first_guess.py       where to start: noise law and count of the singular values, the first pool
    descent.py           from coarse to fine noise, births and deaths on the way; the path
    moves.py, rare_slots.py, trial.py
                         moves that change slots: births, deaths, merges; those for rarely held ones; how one is
                         tried on the samples concerned
    pool_update.py       profiles refitted to given amounts, compiled
    small_counts.py, dense_fit.py
                         each small count fitted in turn, from least squares that let every sample hold everything
    regime.py, rotations.py, spread.py
                         few of many or most of a few; then the middle of all pools that fit equally well, and how
                         far they spread about a pool
    judging.py           the law of the noise that an answer is judged by
    signs.py             whether negative values are noise
    evidence.py, strength.py
                         the count, and what speaks for it; how well slots are borne out
    distinct_samples.py  each distinct sample once
    listening.py, checkpoint.py
                         those who follow a run: progress, callback, R² band, the file to go on from
    frozen_pool.py       new samples over a learned pool, whose own errors must not pass for components
    learned.py, pool_confidence.py, rehearsal.py
                         how sure supports over a learned pool are, tried out where the truth is known

All are plain functions on arrays. What does not belong here: files but for the checkpoint, printing, figures, and
checks of arguments.
"""
