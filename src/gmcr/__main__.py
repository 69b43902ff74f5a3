"""`python -m gmcr` is the command `gmcr`."""

import sys

from gmcr.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
