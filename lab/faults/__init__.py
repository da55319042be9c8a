"""Faults with ground truth, one a file.

Each has a NAME, `inject(lab) -> Injected`, which returns as soon as the evidence exists, and
`recover(lab, injected) -> Injected`, which returns when the workload is healthy again.
"""
