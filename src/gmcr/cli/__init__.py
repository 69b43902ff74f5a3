"""The commands of `gmcr`, one file each: parse, call, print.

    app.py                  lists them
    console.py, options.py  what they share: text, tables, JSON and errors; arguments and options
    terminal.py             streams and signals around a command

Here lives what turns options into a call and a result into text and JSON. What does not belong here: any
computation, and what a run folder holds (`gmcr.runs`). Heavy imports wait inside the functions, so that
`gmcr --help` is quick.
"""
