"""The methods to compare with, one file each, and the search for their component count (Algorithm 3).

Here will live NMF and its sparse, Bayesian and automatic-relevance forms, ICA, MCR-ALS and successive
projection, all with the estimator interface and at their best settings. No solver of gmcr may import from
here, and no baseline may use a solver of gmcr: a comparison needs both sides independent.
"""
