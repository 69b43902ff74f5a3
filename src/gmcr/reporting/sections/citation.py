"""What to cite: the paper whose model this is."""

from __future__ import annotations

from gmcr.reporting.section import Section, Text, add_section

CITATION = (
    "Yu-Tang Chang and Shih-Fang Chen: EB-gMCR: Energy-Based Generative Modeling for Signal Unmixing and "
    "Multivariate Curve Resolution. Preprint, National Taiwan University."
)
BIBTEX = """@misc{chang_chen_ebgmcr,
  title  = {{EB-gMCR}: Energy-Based Generative Modeling for Signal Unmixing and Multivariate Curve Resolution},
  author = {Chang, Yu-Tang and Chen, Shih-Fang},
  note   = {Preprint, National Taiwan University}
}"""

add_section(Section("citation", "To cite", 100, lambda _: [CITATION, Text(BIBTEX, "verbatim")], "Cite"))
