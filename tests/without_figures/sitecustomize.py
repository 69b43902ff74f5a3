"""On the path of the processes that tests of the app begin: without matplotlib a run has no figures that are
files, which take as long as the rest and which the page does not show."""

import sys

sys.modules["matplotlib"] = None
