"""What to cite: the paper whose model this is."""

from __future__ import annotations

from gmcr.reporting.section import SECTIONS, Section, Text

CITATION = (
    "Yu-Tang Chang and Shih-Fang Chen: EB-gMCR: Energy-Based Generative Modeling for Signal Unmixing and "
    "Multivariate Curve Resolution. Preprint, National Taiwan University."
)
BIBTEX = """@misc{chang_chen_ebgmcr,
  title  = {{EB-gMCR}: Energy-Based Generative Modeling for Signal Unmixing and Multivariate Curve Resolution},
  author = {Chang, Yu-Tang and Chen, Shih-Fang},
  note   = {Preprint, National Taiwan University}
}"""

SECTIONS.add("citation", Section("To cite", 100, lambda _: [CITATION, Text(BIBTEX, "verbatim")], "Cite"))
