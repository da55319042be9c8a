"""Many people looking at one page: clients that speak Streamlit's protocol and draw nothing.

Each opens the page, keeps the fragments it is told to run again and asks for them at their pace, as the browser does.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENCE_S = 120
WHOLE_RUN = ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY
FRAGMENT_RUN = ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@dataclass
class Session:
    """What one client saw: how long its first run and each refresh took (s), and the bytes of each."""

    first_s: float = 0.0
    first_bytes: int = 0
    refreshes_s: list[float] = field(default_factory=list)
    refreshes_bytes: list[int] = field(default_factory=list)


def is_end(frame: bytes) -> bool:
    """Whether the message says that a run, of the page or of a fragment, came to its end."""
    message = ForwardMsg.FromString(frame)
    return message.HasField("script_finished") and message.script_finished in (WHOLE_RUN, FRAGMENT_RUN)


def look(address: str, sessions: int, for_s: float) -> Sequence[Session]:
    """So many sessions at once, begun one after another within a refresh; each refreshes for so long."""
    return asyncio.run(_all(address.replace("http", "ws", 1), sessions, for_s))


async def _all(address: str, sessions: int, for_s: float) -> Sequence[Session]:
    seen = [Session() for _ in range(sessions)]
    pause_s = min(1.0, 10 / sessions)
    await asyncio.gather(*(_one(address, one, number * pause_s, for_s) for number, one in enumerate(seen)))
    return seen


async def _one(address: str, session: Session, after_s: float, for_s: float) -> None:
    await asyncio.sleep(after_s)
    async with connect(
        f"{address}/_stcore/stream", subprotocols=["streamlit"], max_size=None, open_timeout=PATIENCE_S
    ) as connection:
        began = time.monotonic()
        fragments: dict[str, float] = {}
        session.first_bytes = await _run(connection, BackMsg(), WHOLE_RUN, fragments)
        session.first_s = time.monotonic() - began
        if not fragments:
            return
        ends = time.monotonic() + for_s
        while (asked := time.monotonic()) < ends:
            await asyncio.sleep(max(0.0, min(fragments.values()) - (time.monotonic() - asked)))
            await _refresh(connection, session, fragments)


async def _refresh(connection: ClientConnection, session: Session, fragments: dict[str, float]) -> None:
    """All fragments, one after another; their paces are those of one toolbar and equal."""
    began, size = time.monotonic(), 0
    for fragment_id in list(fragments):
        ask = BackMsg()
        ask.rerun_script.fragment_id, ask.rerun_script.is_auto_rerun = fragment_id, True
        size += await _run(connection, ask, FRAGMENT_RUN, fragments)
    session.refreshes_s.append(time.monotonic() - began)
    session.refreshes_bytes.append(size)


async def _run(connection: ClientConnection, ask: BackMsg, until: int, fragments: dict[str, float]) -> int:
    """Ask for a run and read to its end; returns the bytes."""
    ask.rerun_script.SetInParent()  # asked for nothing in particular, it is the whole page
    await connection.send(ask.SerializeToString())
    size = 0
    while True:
        data = await asyncio.wait_for(connection.recv(), timeout=PATIENCE_S)
        assert isinstance(data, bytes), "Streamlit speaks in binary messages"
        size += len(data)
        message = ForwardMsg.FromString(data)
        if message.HasField("auto_rerun"):
            fragments[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        if message.HasField("script_finished") and message.script_finished == until:
            return size
