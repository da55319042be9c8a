import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import UUID

import pytest

from lab.child import Child
from lab.commands import Command, Fault, ask, take
from lab.errors import LabError
from lab.java import is_suitable, java_home, parse_major
from lab.kafka_jars import KAFKA_VERSION, MARKER, coordinates, is_complete, why_it_failed
from lab.memory import NEEDED_MEMORY_BYTES, check_memory
from lab.node import (
    Listener,
    Node,
    java_command,
    logging_properties,
    meta_of_another_node,
    random_id,
    server_properties,
)
from lab.ports import free_ports, is_listening
from lab.workload.messages import message_id, order, payment, shipment


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('java version "1.8.0_402"', 8),
        ("nonsense", None),
    ],
)
def test_the_major_version_is_read_from_what_java_says(text, major):
    assert parse_major(text) == major


def test_java_17_and_21_and_later_are_suitable():
    assert [major for major in (8, 11, 17, 18, 20, 21, 25) if is_suitable(major)] == [17, 21, 25]
    assert not is_suitable(None)


def fake_java(folder, version):
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return folder


def test_a_suitable_java_home_goes_first(tmp_path):
    home = fake_java(tmp_path / "home", "21.0.1")
    path = fake_java(tmp_path / "path", "17.0.1")

    assert java_home(tmp_path / "wrapper", {"JAVA_HOME": str(home), "PATH": f"{path}/bin"}) == home


def test_an_old_java_home_gives_way_to_the_path(tmp_path):
    home = fake_java(tmp_path / "home", "11.0.1")
    path = fake_java(tmp_path / "path", "17.0.1")

    assert java_home(tmp_path / "wrapper", {"JAVA_HOME": str(home), "PATH": f"{path}/bin:/bin"}) == path


def jars(cache, **sizes):
    (cache / "jars").mkdir(parents=True, exist_ok=True)
    for name, size in sizes.items():
        (cache / "jars" / f"{name}.jar").write_bytes(b"x" * size)


def mark(cache, **sizes):
    marked = {
        "coordinates": list(coordinates(KAFKA_VERSION)),
        "jars": {f"{name}.jar": size for name, size in sizes.items()},
    }
    (cache / MARKER).write_text(json.dumps(marked))


def test_a_cache_is_complete_only_with_every_marked_jar_in_its_size(tmp_path):
    jars(tmp_path, kafka=5, scala=3)
    assert not is_complete(tmp_path), "no marker: the download did not end"
    mark(tmp_path, kafka=5, scala=3)
    assert is_complete(tmp_path)
    jars(tmp_path, scala=2)
    assert not is_complete(tmp_path), "a jar was cut"
    (tmp_path / "jars" / "scala.jar").unlink()
    assert not is_complete(tmp_path), "a jar is gone"


def test_a_cache_of_other_versions_is_not_complete(tmp_path):
    jars(tmp_path, kafka=5)
    (tmp_path / MARKER).write_text(json.dumps({"coordinates": ["kafka:3.9"], "jars": {"kafka.jar": 5}}))
    assert not is_complete(tmp_path)


def test_a_broken_marker_is_no_marker(tmp_path):
    jars(tmp_path, kafka=5)
    (tmp_path / MARKER).write_text('{"coordinates"')
    assert not is_complete(tmp_path)


def test_the_cause_of_a_failed_download_is_the_line_that_names_it():
    access = "Server access error at url somewhere (javax.net.ssl.SSLHandshakeException: PKIX path building failed)"
    summary = 'Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: kafka: not found]'
    host = "Host somewhere not found. url=somewhere"
    assert why_it_failed(f"loading\n{host}\n\t{access}\n{summary}\n\tat java.base\n") == access
    assert why_it_failed(f"loading\n\t{host}\n{summary}\n") == host
    assert why_it_failed(f"loading\n{summary}\n\tat java.base\n") == summary
    assert why_it_failed("") == "no output"


def test_too_little_memory_is_said_in_one_sentence():
    check_memory(NEEDED_MEMORY_BYTES)
    check_memory(None)
    with pytest.raises(LabError, match=r"needs 1\.7 GB of free memory and there are 0\.9 GB"):
        check_memory(900_000_000)


def test_free_ports_differ_and_lie_below_the_ports_of_outgoing_connections():
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert max(ports) < 32_768
    assert not any(is_listening(port) for port in ports)


def nodes(tmp_path):
    return Node(100, "controller", 20_001, tmp_path / "c"), Node(1, "broker", 20_002, tmp_path / "b")


def test_a_broker_and_the_controller_know_each_other(tmp_path):
    controller, broker = nodes(tmp_path)
    of_broker, of_controller = (server_properties(node, controller, {}) for node in (broker, controller))

    assert of_broker["listeners"] == of_broker["advertised.listeners"] == "PLAINTEXT://127.0.0.1:20002"
    assert of_controller["listeners"] == "CONTROLLER://127.0.0.1:20001"
    assert of_broker["controller.quorum.voters"] == of_controller["controller.quorum.voters"] == "100@127.0.0.1:20001"


def test_a_further_listener_is_advertised_with_the_port_that_leads_to_it(tmp_path):
    controller, _ = nodes(tmp_path)
    broker = Node(1, "broker", 20_002, tmp_path / "b", (Listener("TLS", "SSL", 20_003, 20_004),))

    properties = server_properties(broker, controller, {})

    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:20002,TLS://127.0.0.1:20003"
    assert properties["advertised.listeners"] == "PLAINTEXT://127.0.0.1:20002,TLS://127.0.0.1:20004"
    assert properties["listener.security.protocol.map"] == "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,TLS:SSL"


@pytest.mark.parametrize(
    ("brokers", "replicas", "minimum"), [(1, "1", "1"), (2, "2", "2"), (3, "3", "2"), (5, "3", "2")]
)
def test_there_are_no_more_replicas_than_brokers(tmp_path, brokers, replicas, minimum):
    controller, broker = nodes(tmp_path)

    properties = server_properties(broker, controller, {}, brokers=brokers)

    assert (properties["default.replication.factor"], properties["min.insync.replicas"]) == (replicas, minimum)
    assert properties["offsets.topic.replication.factor"] == replicas


def test_overrides_win(tmp_path):
    controller, broker = nodes(tmp_path)
    properties = server_properties(broker, controller, {"min.insync.replicas": "1"})
    assert properties["min.insync.replicas"] == "1"


def test_requests_are_logged_only_when_asked_for(tmp_path):
    assert "kafka.request.logger" in logging_properties(log_requests=True)
    assert "kafka.request.logger" not in logging_properties(log_requests=False)
    _, broker = nodes(tmp_path)
    assert f"-Dlab.log={broker.directory}" in java_command(broker, tmp_path / "java", "jars/*", tmp_path / "log4j2")


def test_a_copied_storage_folder_gets_ids_of_its_own():
    meta = "#\nversion=1\ncluster.id=abc\nnode.id=100\ndirectory.id=old\n"
    assert meta_of_another_node(meta, 2, "new") == "#\nversion=1\ncluster.id=abc\nnode.id=2\ndirectory.id=new\n"


def test_an_id_never_looks_like_an_option():
    drawn = iter([UUID(int=0xF8 << 120), UUID(int=0xFB << 120), UUID(int=0x10 << 120)])

    assert random_id(lambda: next(drawn)) == "EAAAAAAAAAAAAAAAAAAAAA"


def test_a_command_is_taken_once(tmp_path):
    path = tmp_path / "member.json"
    assert take(path) is None
    ask(path, Command(Fault.COMMIT_FIRST, 24))
    assert take(path) == Command(Fault.COMMIT_FIRST, 24)
    assert take(path) is None


def test_the_same_order_is_the_same_bytes_and_about_200_of_them():
    assert order(123) == order(123)
    assert order(123).message_id == "order-000123"
    for message in (order(123), shipment(7)):
        assert 150 < len(message.value) < 250
    assert json.loads(payment(order(123).value))["payment_for"] == "order-000123"


def test_a_record_without_an_id_is_an_error_not_an_empty_id():
    assert message_id([("other", b"x"), ("message-id", b"order-1")]) == "order-1"
    with pytest.raises(KeyError):
        message_id(None)


linux = pytest.mark.skipif(sys.platform != "linux", reason="process states and ties to a parent are Linux's")


def child(tmp_path, code):
    return Child("child", [sys.executable, "-c", code], tmp_path / "child.log", os.environ)


def test_a_child_that_ignores_the_request_to_end_is_killed(tmp_path):
    stubborn = child(
        tmp_path, "import signal,time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    )
    _wait_until(lambda: stubborn.log.read_text())

    stubborn.stop(timeout_s=0.3)

    assert not stubborn.is_running


@linux
def test_a_paused_child_stands_still_at_once_with_all_its_threads_each_time(tmp_path):
    spin = "import threading\nfor _ in range(8): threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()"
    busy = child(tmp_path, f"{spin}\nprint(1, flush=True)")
    _wait_until(lambda: busy.log.read_text())
    for _ in range(5):
        busy.pause()
        states = [task.joinpath("stat").read_text().rpartition(")")[2].split()[0]
                  for task in Path(f"/proc/{busy.pid}/task").iterdir()]  # fmt: skip
        assert set(states) == {"T"}
        busy.resume()
    busy.kill()
    busy.pause()  # what has ended is not waited for


def test_a_paused_child_hears_the_request_to_end(tmp_path):
    paused = child(tmp_path, "import time; print(1, flush=True); time.sleep(60)")
    _wait_until(lambda: paused.log.read_text())
    paused.pause()
    _wait_until(lambda: _state(paused.pid) == "T")

    paused.terminate()

    assert paused.wait(10)


def test_the_last_words_of_a_child_are_its_last_line(tmp_path):
    failing = child(tmp_path, "print('starting'); print('port taken'); raise SystemExit(1)")
    assert failing.wait(10)
    assert failing.last_words() == "port taken"


@linux
def test_a_child_ends_when_its_parent_is_killed(tmp_path):
    program = (
        "import os, sys, time; from pathlib import Path; from lab.child import Child\n"
        "command = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "print(Child('c', command, Path(sys.argv[1]), os.environ).pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, tmp_path / "c.log"], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    time.sleep(0.3)

    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()

    _wait_until(lambda: _state(pid) in (None, "Z"))


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return None


def _wait_until(holds, within_s=10):
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
