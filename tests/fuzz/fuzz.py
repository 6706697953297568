#!/usr/bin/env python3
"""Give whole commands damaged input: executables, machines, options or environments.

    fuzz.py KIND --build FOLDER [--count N] [--seconds S] [--seed SEED] [--jobs J] [--keep FOLDER] [--only NUMBER]

Every case is a function of the seed and its number: --only tries one again. What fails is kept in a folder of its own
below --keep, with all that was printed. Exit status 1 if anything failed.
"""

import sys

sys.dont_write_bytecode = True
import session  # noqa: E402
from environments import Environments  # noqa: E402
from executables import Executables  # noqa: E402
from machines import Machines  # noqa: E402
from options import Options  # noqa: E402

KINDS = {"executables": Executables, "machines": Machines, "options": Options, "environments": Environments}

if __name__ == "__main__":
    sys.exit(session.main(__doc__, KINDS))
