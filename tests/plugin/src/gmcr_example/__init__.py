"""A law, a constraint, a step, a reader, a rank rule and a report section, added to gmcr by an entry point."""

from gmcr_example import constraint, law, reader, rule, section, step  # noqa: F401  (importing them registers them)

GMCR_INTERFACE = 1
