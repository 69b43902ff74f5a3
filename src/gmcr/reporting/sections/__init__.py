"""The sections that every report has, a file each; importing this package registers them.

A file holds one section: its sentences, its charts and its tables, made from `Contents`. Nothing here computes
what is not in there already, and nothing is HTML.
"""

import gmcr.reporting.sections.amounts
import gmcr.reporting.sections.certificate
import gmcr.reporting.sections.citation
import gmcr.reporting.sections.concentrations
import gmcr.reporting.sections.count
import gmcr.reporting.sections.fit
import gmcr.reporting.sections.noise
import gmcr.reporting.sections.profiles
import gmcr.reporting.sections.reproduce
import gmcr.reporting.sections.runs
import gmcr.reporting.sections.separation
import gmcr.reporting.sections.steps
import gmcr.reporting.sections.supports
