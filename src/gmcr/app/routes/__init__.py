"""What can be asked of the server: one table of routes, which guard, dispatcher and schema are made of.

    route.py       what a route is: method, path, door, what it takes, what it answers
    table.py       all of them, and which one a request is for
    schema.py      the same as OpenAPI, for those who test it
    answers.py     errors and JSON
    pages.py       the page and its parts, and the way in
    projects.py    projects: made, told, removed
    files.py       what is given to them, and how it is read
    work.py        fits and other jobs: begun, stopped
    results.py     what came out: pages of runs, samples, downloads, commands
    stream.py      what has changed, as it changes

A handler takes a request that the guard let through, with values that were checked, and answers with JSON or a
file. It computes nothing and reads nobody's data.
"""
