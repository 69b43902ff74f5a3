"""Results for reading: figures and the self-contained HTML report.

    contents.py            `Contents`: everything a report shows, as plain data; kept in the run folder
    trust.py, words.py     the answer and the trust in it; numbers and sentences
    charts.py              what a chart is: data, labels and an alternative text, apart from how it is drawn
    figures.py, sample_figures.py    the charts of a report, with thinning.py, which keeps peaks
    tables.py, sample_tables.py      its tables, with listing.py
    page.py, assets/       the page: its template, its style, and the script that draws the charts
    svg.py, png.py, files.py         the same charts as files, with scales.py and colours.py

A report computes nothing that is not already in the objects it shows, and calls no solver; whoever writes one
collects the facts first (`gmcr.reporting.collect`). Text from files is data: it is escaped, wherever it goes.
"""
