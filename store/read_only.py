"""A process that gives up writing: no file, whoever owns it, can be made, changed or removed by it any more.

Landlock (Linux 5.13; Documentation/userspace-api/landlock.rst) does it without any right, for this process and what it
starts, for good. Files that are open already stay as they are.
"""

import ctypes
import struct

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_CREATE_RULESET_VERSION = 1
_PR_SET_NO_NEW_PRIVS = 38

# LANDLOCK_ACCESS_FS_*, by the version that knows them. Reading and executing (bits 0, 2 and 3) stay allowed.
_WRITE_FILE, _REMOVE_AND_MAKE, _REFER, _TRUNCATE = 1 << 1, 0b1_1111_1111 << 4, 1 << 13, 1 << 14
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1


def give_up_writing() -> bool:
    """Whether it is given up, and TCP with it where the kernel can; False: this kernel cannot."""
    known = version()
    if not known:
        return False
    files, network = forbidden(known)
    rules = struct.pack("QQ", files, network)[: 16 if known >= 4 else 8]
    libc = _libc()
    ruleset = libc.syscall(_CREATE_RULESET, rules, len(rules), 0)
    return (
        ruleset >= 0
        and libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        and libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    )


def version() -> int:
    """The version of Landlock this kernel has; 0: none, or it is switched off."""
    return max(0, _libc().syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION))


def forbidden(version: int) -> tuple[int, int]:
    """What a kernel of this Landlock version can forbid: ways to change files, ways to use TCP."""
    files = _WRITE_FILE | _REMOVE_AND_MAKE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    return files, (_BIND_TCP | _CONNECT_TCP if version >= 4 else 0)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
