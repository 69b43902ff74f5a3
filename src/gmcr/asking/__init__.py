"""What is asked in words, by the command line and by the app alike: options become objects, once and for both.

    samples.py     the samples of a file: orientation, sheets, unit of the axis, what is beside the channels
    steps.py       steps before unmixing
    places.py      runs, and the order of samples in them
    known.py       known amounts, and other columns of a file
    fixed.py       known profiles
    wrong.py       `WrongOption`: the call was wrong, not the work

Here is no terminal and no page: words come as they were said, and what cannot be used is one sentence. Nothing
here may fit or decode.
"""
