"""Results for reading: figures and the self-contained HTML report.

Here will live what turns a `Decomposition`, a certificate and their evidence into pages and pictures. A
report computes nothing that is not already in the objects it shows, and calls no solver.
"""
