"""Work that outlives the server: each job is a folder of small files and a process of its own.

    job.py      `Job`: what is to be done, how far it is, what came of it; all of it read from its folder
    worker.py   the process: caps its memory, runs the commands one after another, notes how they ended
    queue.py    which job begins when; finds those of an earlier server

A job is commands of `gmcr`, so that the app computes what the command line computes, and nothing else. Nothing
here knows what commands mean.
"""
