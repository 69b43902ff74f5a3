"""The quick look at the count: what the singular values alone say about the number of components.

Every rule looks for the place where the singular values stop telling of components and start telling of
noise. All but two (eigengap, Malinowski) take that noise to be white: the same everywhere and independent.
Measured noise rarely is, so the table is also looked at under scalings that whiten the usual kinds of noise,
and the report names the scaling under which the remainder looks most like white noise.

None of this sees components that occur in no sample, or more of them than there are samples or channels.

One rule a file, which registers itself: `edge`, `threshold`, `gap`, `indicator`, `permutations`; `rules` says
what a rule is, `white_noise` has the law that most of them rest on. `preparation` makes what they see of the
table, `estimate` asks all of them, `report` prints; `counts` and `levelling` have scalings for the
solver's own look. Nothing here may fit anything.
"""

# Importing a rule registers it; their order is that of the report.
from gmcr.rank import edge, threshold, gap, indicator, permutations  # noqa: I001
from gmcr.rank.counts import whitened_counts
from gmcr.rank.edge import marchenko_pastur
from gmcr.rank.estimate import estimate_rank
from gmcr.rank.levelling import levelled
from gmcr.rank.preparation import prepare, scalings
from gmcr.rank.report import RankReport
from gmcr.rank.rules import RULES, Answer, Rule, Seen
from gmcr.rank.white_noise import WHITE_MISFIT, misfit, noise_edge
