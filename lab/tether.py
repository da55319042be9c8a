"""Run a command that ends when the process that started it ends: `tether.py PARENT_PID SIGNAL COMMAND ...`.

Started as a script of its own because setting this between fork and exec of a threaded parent can deadlock.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>; survives exec


def main() -> None:
    """Tie this process to its parent, then become the command."""
    parent_pid, signal_number, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent_pid:  # it ended before we were tied to it
        sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
