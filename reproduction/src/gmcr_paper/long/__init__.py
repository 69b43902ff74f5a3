"""EB-gMCR at the paper's own size: runs of hours, worked off in the background and gone on with after any kill.

    plan.py      every run by name, in the order in which they are done
    work.py      a run trained in a folder of its own, with a small log; a worker that takes the next one
    collect.py   what a run has come to, finished or not, as a record of the results folder
    cli.py       the command `gmcr-paper-long`

States are large and stay outside the repository; records and logs are small and go to `reproduction/runs/long`.
"""
