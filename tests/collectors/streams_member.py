"""A member of a Streams group as the coordinator sees one (KIP-1071): heartbeats over a real connection, no Java.

It processes nothing: what the coordinator assigns is reported as owned with the next heartbeat.
"""

from kafka.protocol.api_message import ApiMessage

from tests.collectors import schemas

JOIN, LEAVE = 0, -1


class StreamsGroupHeartbeatRequest(ApiMessage, load_json=schemas):
    pass


class StreamsGroupHeartbeatResponse(ApiMessage, load_json=schemas):
    pass
