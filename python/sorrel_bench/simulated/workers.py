"""Workers that run ranks and exchange records, event by event.

A worker runs one rank until it waits, then polls its mailboxes, then runs the next ready one, as src/core/worker.cpp does. The event with
the earliest time is next, so a poll sees every record that was visible at its time.
"""

import collections
import dataclasses
import heapq
import itertools
from collections.abc import Callable, Generator, Sequence

from .costs import Costs

# What a rank waits for: it goes on when this returns true.
Rank = Generator[Callable[[], bool], None, None]


@dataclasses.dataclass
class Worker:
    number: int
    now: float = 0.0
    is_idle: bool = False
    ready: collections.deque = dataclasses.field(default_factory=collections.deque)
    waiting: list = dataclasses.field(default_factory=list)  # (test, rank)
    inbox: list = dataclasses.field(default_factory=list)  # (visible at, order, handler)
    senders: set = dataclasses.field(default_factory=set)  # whose mailboxes are open


class Machine:
    def __init__(self, costs: Costs, worker_count: int) -> None:
        self.costs = costs
        self.workers = [Worker(number) for number in range(worker_count)]
        self._order = itertools.count()
        self._events: list[tuple[float, int, Worker]] = []
        self.polls = 0

    def start(self, worker: int, rank: Rank) -> None:
        self.workers[worker].ready.append(rank)

    def post(self, sender: Worker, to: int, handler: Callable[[Worker], None]) -> None:
        """A record: handler(receiver) runs there when it is taken."""
        sender.now += self.costs.send
        receiver = self.workers[to]
        receiver.senders.add(sender.number)
        visible = sender.now + self.costs.crossing
        heapq.heappush(receiver.inbox, (visible, next(self._order), handler))
        if receiver.is_idle:
            receiver.is_idle = False
            self._add(receiver, max(visible, receiver.now))

    def _add(self, worker: Worker, time: float) -> None:
        worker.now = time
        heapq.heappush(self._events, (time, next(self._order), worker))

    def run(self) -> float:
        """Until every rank has ended or waits for ever; returns the time of the last event."""
        for worker in self.workers:
            self._add(worker, 0.0)
        last = 0.0
        while self._events:
            _, _, worker = heapq.heappop(self._events)
            self._turn(worker)
            last = max(last, worker.now)
        return last

    def _turn(self, worker: Worker) -> None:
        self._poll(worker)
        still = []
        for test, rank in worker.waiting:
            if test():
                worker.ready.append(rank)
            else:
                still.append((test, rank))
        worker.waiting = still
        if worker.ready:
            rank = worker.ready.popleft()
            worker.now += self.costs.switch
            test = next(rank, None)
            if test is not None:
                worker.waiting.append((test, rank))
            self._add(worker, worker.now)
        elif worker.inbox:
            self._add(worker, max(worker.inbox[0][0], worker.now))
        else:
            worker.is_idle = True

    def _poll(self, worker: Worker) -> None:
        self.polls += 1
        worker.now += self.costs.poll + len(worker.senders) * self.costs.poll_mailbox
        while worker.inbox and worker.inbox[0][0] <= worker.now:
            _, _, handler = heapq.heappop(worker.inbox)
            worker.now += self.costs.receive
            handler(worker)


def block_of(item: int, item_count: int, part_count: int) -> int:
    """The part that holds an item, when items lie in blocks over the parts."""
    return item * part_count // item_count


def members(item_count: int, part_count: int) -> Sequence[int]:
    """The number of items of each part."""
    counts = [0] * part_count
    for item in range(item_count):
        counts[block_of(item, item_count, part_count)] += 1
    return counts
