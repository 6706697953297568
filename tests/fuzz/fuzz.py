#!/usr/bin/env python3
"""Run whole commands with damaged input: executables, machines, options or environments.

    fuzz.py KIND --build FOLDER [--count N] [--seconds S] [--seed SEED] [--jobs J] [--keep FOLDER] [--only NUMBER]

Every case is a function of the seed and its number: --only repeats one. A failed case is kept in its own folder below
--keep, with all output. Exit status 1 if any case failed.
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
