"""The paper's tables and figures, one file each, run again.

Here will live what `gmcr paper NAME` runs: settings, runs and the table with the paper's value beside
ours. A cell that claims to be a measurement is measured. Only this folder may need the extra `paper`
(matplotlib, pyMCR); nothing else may import from it.
"""
