"""The window solver: count, profiles, supports and noise from the samples alone.

Here live the steps of the solver, each a plain function on arrays (pool update, births, deaths, merges,
the descent through noise levels, the choice from the path), and the estimator `GMCR` on top of them. What
does not belong here: reading files, printing, figures, and argument checks inside the steps. The decoder
it calls is `gmcr.decoder`, the noise laws are `gmcr.noise`.
"""
