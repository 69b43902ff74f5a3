"""`python -m gmcr` is the command `gmcr`."""

import sys

from gmcr.cli import main

if __name__ == "__main__":
    sys.exit(main())
