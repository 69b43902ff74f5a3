"""The paper's tables and figures, one file each, run again, and the methods it compares with.

    cli.py           the command `gmcr-paper NAME`
    solver.py        EB-gMCR at its own size: its statements point by point, the runs, what goes further
    long/            those runs, hours each, in the background: the command `gmcr-paper-long`
    predictions.py   what each of them was expected to show
    registry.py      all tables and figures, by the names that the command knows
    counts.py, count_figure.py, bands.py, ard.py, runtime.py, supports.py, support_bands.py, ablation.py,
    real_table.py, real_figure.py, phi.py, reuse.py, gate.py
                     one table or figure each: the runs it needs, and how it is made from finished ones
    energy_cells.py  what the tables of EB-gMCR share; methods.py: names of methods, and how each is run
    studies/         what is measured in a run; baselines/: the methods to compare with; support_columns.py: found
                     against true supports
    running.py       runs in parallel, those that are missing; results.py: the folder of finished ones
    published.py     the paper's own values, for the columns that say so
    claims_*.py      statements of the paper, each checked on the runs there are; truth.py: the truth's own R²
    tables.py, figures.py, simpler.py, document.py
                     text, Markdown and LaTeX; PNG and PDF; docs/paper.md

A cell that claims to be a measurement is measured. A package of its own, which gmcr's wheel does not hold: it may
import from gmcr, and gmcr never from here.
"""
