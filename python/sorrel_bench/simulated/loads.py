"""What the simulated machine runs: kNeighbor, collectives over workers and nodes, ranks with unequal work."""

import heapq
from collections.abc import Iterator

from .costs import ALL_TO_ALL_NODES_MAX, COUNTER_BYTES, FANOUT, RING_BYTES, SLOTS_BYTES, Costs
from .workers import Machine, Rank, Worker, block_of, members


def kneighbor(costs: Costs, workers: int, ranks: int, distance: int, iterations: int = 6) -> float:
    """Microseconds of an iteration of bench/probes/kneighbor.c: each rank exchanges messages with `distance` neighbours on each side and
    answers every one."""
    machine = Machine(costs, workers)
    offsets = [sign * (e // 2 + 1) for e, sign in enumerate([1, -1] * distance)]
    came, answers = [0] * ranks, [0] * ranks

    def send(rank: int, to: int, counts: list[int]) -> None:
        here, there = (block_of(r, ranks, workers) for r in (rank, to))
        worker = machine.workers[here]
        if here == there:
            worker.now += costs.local
            counts[to] += 1
            return

        def arrive(_: Worker) -> None:
            counts[to] += 1

        machine.post(worker, there, arrive)

    def run(rank: int) -> Rank:
        edges = len(offsets)
        for iteration in range(iterations):
            for offset in offsets:
                send(rank, (rank + offset) % ranks, came)
            for edge, offset in enumerate(offsets):
                wanted = iteration * edges + edge + 1
                if came[rank] < wanted:
                    yield lambda wanted=wanted: came[rank] >= wanted
                send(rank, (rank - offset) % ranks, answers)
            wanted = (iteration + 1) * edges
            if answers[rank] < wanted:
                yield lambda wanted=wanted: answers[rank] >= wanted

    for rank in range(ranks):
        machine.start(block_of(rank, ranks, workers), run(rank))
    return machine.run() / iterations


def parent_of(node: int, fanout: int) -> int:
    return (node - 1) // fanout


def children_of(node: int, count: int, fanout: int) -> range:
    first = node * fanout + 1
    return range(min(first, count), min(first + fanout, count))


def barrier(costs: Costs, workers: int, ranks: int, fanout: int = FANOUT, iterations: int = 4) -> float:
    """Microseconds of a small allreduce over the ranks of a process: a counter for each worker, and a tree of workers."""
    machine = Machine(costs, workers)
    member_counts = members(ranks, workers)
    arrived, reported, released = ([0] * workers for _ in range(3))

    def try_up(worker: Worker) -> None:
        node = worker.number
        if arrived[node] < member_counts[node] or reported[node] < len(children_of(node, workers, fanout)):
            return
        arrived[node] = reported[node] = 0
        if node == 0:
            down(worker)
            return

        def up(parent: Worker) -> None:
            reported[parent.number] += 1
            try_up(parent)

        machine.post(worker, parent_of(node, fanout), up)

    def down(worker: Worker) -> None:
        for child in children_of(worker.number, workers, fanout):
            machine.post(worker, child, down)
        released[worker.number] += 1

    def run(node: int) -> Rank:
        worker = machine.workers[node]
        for iteration in range(iterations):
            # All ranks of a worker, one after the other: each costs a counter and a switch.
            worker.now += costs.collective + member_counts[node] * costs.arrive
            arrived[node] = member_counts[node]
            try_up(worker)
            if released[node] <= iteration:
                yield lambda iteration=iteration: released[node] > iteration

    for node in range(workers):
        machine.start(node, run(node))
    return machine.run() / iterations


def barrier_over_nodes(costs: Costs, nodes: int, workers: int, ranks: int, wire_us: float, packet_us: float) -> float:
    """A barrier over nodes with so many workers and ranks each: few nodes send to each other, many form a tree."""
    inside = barrier(costs, workers, ranks)
    if nodes == 1:
        return inside
    if nodes <= ALL_TO_ALL_NODES_MAX:
        return inside + (nodes - 1) * packet_us + wire_us + (nodes - 1) * packet_us
    return inside + barrier(costs.over(wire_us, packet_us), nodes, nodes)


def tree_levels(count: int, fanout: int = FANOUT) -> int:
    """Levels below the root."""
    levels, last = 0, count - 1
    while last > 0:
        last = parent_of(last, fanout)
        levels += 1
    return levels


def loans(costs: Costs, workers: int, ranks_each: int, owners: int, burst_us: float, step_count: int = 3) -> float:
    """The time of a step over the ideal, where the ranks of `owners` of the workers compute for a burst and the other ranks do not.

    An owner keeps one of its ready ranks and offers the others; it looks for what came back, and takes its offers back, when its own
    burst is over. An idle worker visits the boxes in turn, which costs a crossing each, and a claim costs one more. A rank that was lent
    goes home before it enters the barrier.
    """
    claim = 2 * costs.crossing + costs.receive
    home = costs.send + costs.crossing + costs.receive + costs.switch
    total = 0.0
    for _ in range(step_count):
        left = [ranks_each] * owners
        done = [0.0] * owners  # when the last rank of the owner is back
        # Time at which a worker is free, its number, the box that it looks into first.
        free = [(0.0, w, w % owners) for w in range(workers)]
        heapq.heapify(free)
        box_free = [0.0] * owners  # claims of one box come one after the other
        while any(left):
            now, worker, first = heapq.heappop(free)
            if worker < owners and left[worker]:
                left[worker] -= 1
                end = now + costs.switch + costs.arrive + burst_us
                done[worker] = max(done[worker], end)
                heapq.heappush(free, (end, worker, worker))
                continue
            visited = 0
            box = first
            while left[box] == 0:
                box = (box + 1) % owners
                visited += 1
            start = max(now + visited * costs.crossing, box_free[box])
            box_free[box] = start + claim
            left[box] -= 1
            end = start + claim + burst_us
            # The owner takes it back between two bursts of its own: half a burst later on average, while it has any.
            done[box] = max(done[box], end + home + (burst_us / 2 if left[box] else 0.0))
            heapq.heappush(free, (end, worker, box))
        total += max(done) + barrier(costs, workers, workers * ranks_each, iterations=2)
    ideal = owners * ranks_each * burst_us / workers
    return total / step_count / ideal


def mailbox_bytes(workers: int) -> tuple[int, int]:
    """Address space reserved for the mailboxes of a process, and memory in use once every worker has sent to every other."""
    each = SLOTS_BYTES + RING_BYTES + COUNTER_BYTES
    return workers * workers * each, workers * (workers - 1) * each


def powers(first: int, last: int) -> Iterator[int]:
    while first <= last:
        yield first
        first *= 2
