"""How sure a decomposition is (Theorem 3a).

supports.py says how probably each support is right: weighing.py prepares the samples, neighbours.py weighs with
averages.py, under a support_law.py; pool_errors.py, uncut.py and completion.py allow for a pool that was learned,
recalibration.py for what is left. standard_errors.py is about concentrations and profiles.
"""
