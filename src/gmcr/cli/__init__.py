"""The longer commands of `gmcr`, one file each: parse, call, print.

Here lives what turns options into a call and a result into text, JSON and files. What does not belong here: any
computation. Heavy imports wait inside the functions, so that `gmcr --help` is quick; `gmcr.cli.app` lists all
commands.
"""
