"""Faults with ground truth, one a file.

A fault of the workload has a NAME, `inject(lab) -> Injected`, which returns as soon as the evidence exists, and
`recover(lab, injected) -> Injected`, which returns when the workload is healthy again. One with topics and groups of
its own has a CODE, `inject(ground) -> Injected`, and `recover` where something is to be mended: see
`catalogue.GroundFault`.
"""
