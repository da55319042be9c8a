"""Controls, one a file: things that happen in every healthy cluster and break no promise. Same shape as the faults.

What a monitor may state of them, because it is true, is expected without being demanded; anything else is false.
"""
