"""Results for reading: figures and the self-contained HTML report.

    contents.py   `Contents`: everything a report shows, as plain data; kept in the run folder
    words.py      the answer, the trust in it and other sentences
    charts.py     what a chart is: data, labels and an alternative text, apart from how it is drawn
    figures.py    the charts of a report
    thinning.py   fewer points for the eye, peaks kept
    tables.py     the tables of a report
    page.py       the page: page.html, page.css and page.js, which draws the charts
    svg.py, png.py   the same charts as files

A report computes nothing that is not already in the objects it shows, and calls no solver; whoever writes one
collects the facts first (`gmcr.commands.collecting`). Text from files is data: it is escaped, wherever it goes.
"""
