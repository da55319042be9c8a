"""`python -m lab story --check`: the story with Tidemark watching, and its findings compared with the ground truth."""

import time
from collections.abc import Callable
from pathlib import Path

from guarantees.findings import Kind
from lab.cluster import Cluster
from lab.injected import load_injected
from lab.judge import Verdict, judge
from lab.paths import LabPaths
from lab.pipelines import Lab
from lab.ports import free_ports
from lab.running import discard, new_directory, registered
from lab.second_judge import in_words
from lab.self_check import disagreements, read_stored
from lab.story import tell
from lab.story_clients import story_disagreements
from lab.table import table
from lab.watch import (
    SETTLE_S,
    await_watching,
    data_dir,
    read_found,
    settings_text,
    start_tidemark,
    stop_tidemark,
)

_NOTES = {Kind.LOST_WRITE: f" (settle delay of {SETTLE_S} s included)"}
# After the story: at least long enough for a wrong claim to be made, at most until a right one would be late.
_LISTEN_S = SETTLE_S + 15.0
_GIVE_UP_AFTER_S = 120.0


def check() -> int:
    """0 only if everything injected was found with the right counts and nothing else was claimed."""
    directory = new_directory()
    verdict, disagreeing, met = judged_story(directory, tell)
    print(table(verdict, _NOTES))
    print(f"What clients met, by the definitions of Jepsen: {', '.join(met) or 'nothing'}.")
    for line in disagreeing:
        print(f"The lab is wrong about itself: {line}")
    if not verdict.is_right or disagreeing:
        print(f"Ground truth, findings and logs are kept in {directory}")
        return 1
    print("Everything injected was found, with the right counts, and nothing else was claimed.")
    discard(directory)
    return 0


def judged_story(directory: Path, tell: Callable[[Lab], object]) -> tuple[Verdict, list[str], tuple[str, ...]]:
    """The verdict on the whole story; where the cluster or what its clients met disagrees with the ground truth, there
    the lab is wrong; and what they met.
    """
    with Cluster() as cluster, Lab(cluster.bootstrap, directory) as lab, registered(lab):
        tidemark = start_tidemark(directory, settings_text(cluster.bootstrap, free_ports(1)[0]))
        try:
            lab.progress("Waiting until Tidemark watches")
            await_watching(tidemark, directory)
            tell(lab)
            lab.progress(f"Listening for at least {_LISTEN_S:.0f} s to what Tidemark claims")
            verdict = final_verdict(lambda: verdict_on(directory))
            injected, stored = load_injected(lab.paths.injected), read_stored(cluster.bootstrap)
            met, disagreeing = story_disagreements(lab.paths, stored, injected)
        finally:
            stop_tidemark(tidemark)
    return verdict, [*disagreements(stored, injected), *disagreeing], in_words(met)


def verdict_on(directory: Path) -> Verdict:
    """The verdict as the store and the ground truth stand now."""
    return judge(load_injected(LabPaths(directory).injected), read_found(data_dir(directory)))


def final_verdict(look: Callable[[], Verdict]) -> Verdict:
    """Listen for a while; then the first verdict that is right, or the one at the end of all patience."""
    listening_since = time.monotonic()
    time.sleep(_LISTEN_S)
    while not (verdict := look()).is_right and time.monotonic() - listening_since < _GIVE_UP_AFTER_S:
        time.sleep(2)
    return verdict
