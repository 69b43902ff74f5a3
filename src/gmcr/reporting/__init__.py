"""Results for reading: figures and the self-contained HTML report.

    contents.py            `Contents`: everything a report shows, as the objects that found it out
    collect.py             collects it, within bounds of time
    kept.py                keeps it in a file of the run folder
    trust.py, words.py     the answer and the trust in it; numbers and phrases
    section.py, sections/  what a section is, and those that every report has, a file each
    charts.py, listing.py  what a chart and a table are, apart from how they are drawn
    page.py, assets/       the page: its templates, its style, and the script that draws the charts
    live.py                the same as data, for a page that changes while it is looked at
    files.py               `report`, and which figures become files
    drawing.py, figures.py the same charts by matplotlib: onto Axes, and as files, with colours.py

A page computes nothing that is not already in its contents, and nothing here knows a solver: an estimator comes
in by what it offers (`collect.Fitted`). Text from files is data: it is escaped, wherever it goes.
"""

from gmcr.reporting import sections  # before anybody else adds one
from gmcr.reporting.section import SECTIONS, Section
