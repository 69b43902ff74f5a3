"""A noise law, a constraint, a reader and a report section, added to gmcr by an entry point."""

from gmcr_example import constraint, law, reader, section  # noqa: F401  (importing them registers them)

GMCR_INTERFACE = 1
