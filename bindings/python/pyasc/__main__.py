"""`python -m pyasc`: the command line."""

import sys

from pyasc.cli import main

sys.exit(main())
