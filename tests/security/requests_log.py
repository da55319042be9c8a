"""What a broker wrote about the requests it served."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    """One request, as the broker's request logger has it."""

    api_key: int
    name: str
    client_id: str
    software: str
    principal: str
    listener: str
    body: dict[str, object]


def requests_served(log: Path) -> Iterator[Served]:
    """A line that was still being written is left out."""
    for line in log.read_text().splitlines():
        _, _, text = line.partition("Completed request:")
        try:
            given = json.loads(text.rpartition(" (")[0])
        except ValueError:
            continue
        header = given["requestHeader"]
        yield Served(
            api_key=header["requestApiKey"],
            name=header["requestApiKeyName"],
            client_id=header["clientId"],
            software=given["clientInformation"]["softwareName"],
            principal=given["principal"],
            listener=given["listener"],
            body=given["request"],
        )
