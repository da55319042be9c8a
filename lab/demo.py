"""`make demo`: a cluster, the workload, Tidemark with its page, and the four faults; until Ctrl-C."""

import time
from pathlib import Path
from typing import NoReturn

from lab.child import Child
from lab.cluster import Cluster
from lab.errors import LabError
from lab.faults.catalogue import INJECTABLE
from lab.pipelines import Lab
from lab.ports import free_ports, is_listening
from lab.running import discard, new_directory, registered, serve_requests
from lab.story import tell
from lab.watch import await_watching, settings_text, start_tidemark, stop_tidemark

PAGE_PORT = 8501
_PAGE_WITHIN_S = 120.0


def show() -> NoReturn:
    """Start everything, tell the story once, then inject what `python -m lab inject` asks for."""
    directory = new_directory()
    try:
        with Cluster(is_proxied=True) as cluster, Lab(cluster.bootstrap, directory) as lab, registered(lab):
            port = page_port()
            tidemark = start_tidemark(directory, settings_text(cluster.bootstrap, port, (lab_page(),)))
            try:
                watch(lab, cluster, tidemark, port)
            finally:
                print("Stopping Tidemark, the workload and Kafka", flush=True)
                stop_tidemark(tidemark)
    finally:
        discard(directory)


def watch(lab: Lab, cluster: Cluster, tidemark: Child, port: int) -> NoReturn:
    """The story, as soon as there is something that can see it."""
    lab.progress("Starting Tidemark: collectors, Spark, and the page")
    await_page(tidemark, port)
    lab.progress(f"\n    Tidemark: http://127.0.0.1:{port}   (Ctrl-C stops everything)\n")
    await_watching(tidemark, lab.paths.directory)
    tell(lab)
    lab.progress(f"The story is told. Again: python -m lab inject {{{','.join(INJECTABLE)}}}")
    serve_requests(lab, cluster)


def await_page(tidemark: Child, port: int) -> None:
    """Wait until the page answers."""
    deadline = time.monotonic() + _PAGE_WITHIN_S
    while not is_listening(port):
        if not tidemark.is_running:
            raise LabError(f"Tidemark ended by itself: {tidemark.last_words()} (see {tidemark.log})")
        if time.monotonic() > deadline:
            raise LabError(f"Tidemark's page did not answer within {_PAGE_WITHIN_S:.0f} s: see {tidemark.log}")
        time.sleep(0.3)


def lab_page() -> str:
    """The page with a button for each fault."""
    return str(Path(__file__).with_name("page.py"))


def page_port() -> int:
    """Streamlit's usual port, or another one when it is taken."""
    return free_ports(1)[0] if is_listening(PAGE_PORT) else PAGE_PORT
