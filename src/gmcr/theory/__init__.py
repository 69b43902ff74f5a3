"""What can be said about a solution: the paper's theorems as computations.

Here will live the spark margin, the λ-window, the certificate, isolating pairs, confidence in supports,
and the ambiguity of profiles that the samples never separate. Everything takes arrays or a `Decomposition`
and returns numbers or tables; no solver may be called from here, so that a certificate holds for a
solution from anywhere.
"""
