"""What the workload sends. A message is a function of its number, so sending it again sends the same bytes."""

import json
from dataclasses import dataclass

ID_HEADER = "message-id"
CUSTOMERS = 97
_CARRIERS = ("Hermes", "Iris", "Mercury")
_ITEMS = ("kettle, 1.7 l, steel", "reading lamp, brass", "door mat, coir", "tea towel, linen, set of 3")


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A record to be sent: its id goes into the header `message-id`."""

    message_id: str
    key: str
    value: bytes


def order(number: int) -> OutgoingMessage:
    """An order of one of the shop's customers, about 200 bytes."""
    customer = f"customer-{number * 31 % CUSTOMERS:03}"
    order_id = f"order-{number:06}"
    body = {
        "order": order_id,
        "customer": customer,
        "items": [{"name": _ITEMS[number % len(_ITEMS)], "quantity": number % 3 + 1}],
        "total_cents": 1290 + number * 37 % 9000,
        "currency": "EUR",
        "deliver_to": f"{number % 180 + 1} Harbour Road",
    }
    return OutgoingMessage(order_id, customer, json.dumps(body).encode())


def shipment(number: int) -> OutgoingMessage:
    """A parcel handed to a carrier, about 200 bytes."""
    customer = f"customer-{number * 29 % CUSTOMERS:03}"
    shipment_id = f"shipment-{number:06}"
    body = {
        "shipment": shipment_id,
        "customer": customer,
        "carrier": _CARRIERS[number % len(_CARRIERS)],
        "weight_g": 250 + number * 83 % 9000,
        "deliver_to": f"{number % 180 + 1} Harbour Road",
        "comment": "leave with a neighbour if nobody answers the door",
    }
    return OutgoingMessage(shipment_id, customer, json.dumps(body).encode())


STREAMS = {"orders": order, "shipments": shipment}


def payment(order_value: bytes) -> bytes:
    """The payment that an order becomes."""
    ordered = json.loads(order_value)
    paid = {"payment_for": ordered["order"], "customer": ordered["customer"], "amount_cents": ordered["total_cents"]}
    return json.dumps({**paid, "currency": ordered["currency"], "status": "captured"}).encode()


def ledger_entry(shipment_value: bytes) -> bytes:
    """The entry a shipment makes in the ledger."""
    shipped = json.loads(shipment_value)
    return json.dumps({"entry_for": shipped["shipment"], "carrier": shipped["carrier"], "booked": True}).encode()


def message_id(headers: list[tuple[str, bytes]] | None) -> str:
    """The id of a stored record of the workload."""
    return dict(headers or [])[ID_HEADER].decode()
