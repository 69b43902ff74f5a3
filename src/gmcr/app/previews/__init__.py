"""What is shown before and after a fit, made in processes of their own with capped memory.

    reader.py      the server's side: a process that holds a project's samples, asked one thing after another
    child.py       that process: reads files, tries steps
    pictures.py    samples as a picture, a table and a few facts
    page.py        a run, or another count of it, as the page shows it; a command of a job

The server itself reads no file of anybody's: it hands on what these processes write.
"""
