"""The costs of the simulated machine, in microseconds, from measurements on one and two cores."""

import dataclasses
from collections.abc import Mapping

FANOUT = 8  # of the trees of workers and of nodes: src/mpi/collectives
ALL_TO_ALL_NODES_MAX = 4  # so few nodes send to each other at once
SLOTS_BYTES, RING_BYTES, COUNTER_BYTES = 256 * 128, 16384, 192  # of a mailbox: src/core/mailbox.hpp
POLLED = (1, 16, 64, 127)  # numbers of mailboxes whose poll is measured


@dataclasses.dataclass(frozen=True)
class Costs:
    local: float  # a message between ranks of one worker, both sides
    switch: float  # from one rank to the next
    send: float  # a record is put into the mailbox of another worker
    receive: float  # and taken out there
    crossing: float  # until the other core sees it
    poll: float  # of a worker without open mailboxes
    poll_mailbox: float  # and for each that is open
    collective: float  # of one rank alone
    arrive: float  # each rank of a collective, its switch included

    def over(self, wire_us: float, packet_us: float) -> "Costs":
        """These costs between nodes: a packet is sent, crosses a wire, and is received."""
        return dataclasses.replace(self, send=packet_us, receive=packet_us, crossing=wire_us)


def fitted(measured: Mapping[str, float]) -> Costs:
    """Costs out of medians in us, by name: `yield`, `same_rate`, `two_rate` (a message of a stream), `two` (half a round trip),
    `allreduce_8` and `allreduce_512` (one worker), `poll_N` for each N of POLLED."""
    few, many = POLLED[0], POLLED[-1]
    poll_mailbox = max((measured[f"poll_{many}"] - measured[f"poll_{few}"]) / (many - few), 0.0)
    poll = max(measured[f"poll_{few}"] - few * poll_mailbox, 0.0)
    # In a stream both sides work at once, and the slower one is seen.
    side = measured["two_rate"]
    arrive = (measured["allreduce_512"] - measured["allreduce_8"]) / (512 - 8)
    return Costs(
        local=measured["same_rate"], switch=measured["yield"], send=side, receive=side,
        crossing=max(measured["two"] - 2 * side - poll - poll_mailbox, 0.0), poll=poll, poll_mailbox=poll_mailbox,
        collective=max(measured["allreduce_8"] - 8 * arrive, 0.0), arrive=arrive,
    )  # fmt: skip
