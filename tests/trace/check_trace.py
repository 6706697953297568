#!/usr/bin/env python3
"""check_trace.py FILE [--ranks N] [--messages N] [--open-flows] [--cut] [--line CALL=FILE:LINE]... [--has CATEGORY:TRACK:N]... [--counter NAME]...

Checks a trace with Perfetto's own description of its format (PyPI: perfetto): the file can be read whole; every name is
defined before it is used; the slices of a track are nested, and none is left open; each flow begins once and ends once
(with --open-flows: ends at most once, begins at most once), and does not end before it has begun; with --cut slices may be left open; each rank has a track, and is never on two workers at once. --has: at least N
events of a category are on tracks whose names begin so. Exit status 77 if the
package is not installed.
"""
import argparse
import collections
import sys

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
except ImportError:
    sys.exit(77)


class Trace:
    def __init__(self, path):
        self.parents, self.names, self.strings, self.places = {}, {}, {}, {}
        self.slices = collections.defaultdict(list)  # by track: (time, order, begin, name, place)
        self.flows = collections.defaultdict(lambda: ([], []))
        self.counts = collections.Counter()
        self.categories = {}
        self.of_category = collections.Counter()  # by category and track
        self.counters = set()
        self.packets = set()
        self.places_of = collections.defaultdict(set)
        trace = pb.Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        for order, packet in enumerate(trace.packet):
            self.add(packet, order)

    def add(self, packet, order):
        for entry in packet.interned_data.event_names:
            self.strings[entry.iid] = entry.name
        for entry in packet.interned_data.event_categories:
            self.categories[entry.iid] = entry.name
        for entry in packet.interned_data.source_locations:
            self.places[entry.iid] = entry
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in self.names, f"track {track.uuid} is described twice"
            self.names[track.uuid] = track.name or track.thread.thread_name or track.process.process_name
            self.parents[track.uuid] = track.parent_uuid
        if not packet.HasField("track_event"):
            return
        event = packet.track_event
        assert event.track_uuid in self.names, f"no track {event.track_uuid}"
        name = self.strings[event.name_iid] if event.name_iid else ""
        for category in event.category_iids:
            self.of_category[self.categories[category], self.names[event.track_uuid]] += 1
            if self.categories[category] == "packet":
                self.packets.update([*event.flow_ids, *event.terminating_flow_ids])
        if event.type == event.TYPE_COUNTER:
            self.counters.add(self.names[event.track_uuid])
        if event.source_location_iid:
            place = self.places[event.source_location_iid]
            self.places_of[name].add(f"{place.file_name}:{place.line_number}")
        if event.type in (event.TYPE_SLICE_BEGIN, event.TYPE_SLICE_END):
            is_begin = event.type == event.TYPE_SLICE_BEGIN
            self.slices[event.track_uuid].append((packet.timestamp, order, is_begin, name))
            self.counts[name] += is_begin
        elif event.type == event.TYPE_INSTANT:
            self.counts[name] += 1
            for flow in event.flow_ids:
                self.flows[flow][0].append(packet.timestamp)
            for flow in event.terminating_flow_ids:
                self.flows[flow][1].append(packet.timestamp)

    def check_slices(self, may_be_open):
        for track, events in self.slices.items():
            depth, last = 0, 0
            for time, _, is_begin, name in events:
                assert time >= last, f"{self.names[track]}: {name or 'an end'} at {time} after {last}"
                last = time
                depth += 1 if is_begin else -1
                assert depth >= 0, f"{self.names[track]}: a slice ends that has not begun, at {time}"
            assert may_be_open or depth == 0, f"{self.names[track]}: {depth} slices do not end"

    def check_flows(self, may_be_open):
        for flow, (begins, ends) in self.flows.items():
            assert len(begins) <= 1 and len(ends) <= 1, f"flow {flow} has {len(begins)} begins and {len(ends)} ends"
            # A job may end before a packet that returns credit is read.
            if not may_be_open and flow not in self.packets:
                assert begins and ends, f"flow {flow} has {len(begins)} begins and {len(ends)} ends"
            if begins and ends:
                assert begins[0] <= ends[0], f"a message is received {begins[0] - ends[0]} ns before it is sent"


    def check_runs(self):
        """Checks the runs of each rank, on the tracks of workers."""
        runs = collections.defaultdict(list)
        for track, events in self.slices.items():
            if not self.names[track].startswith("worker "):
                continue
            process, open_slices = self.parents[track], []
            for time, _, is_begin, name in events:
                if is_begin:
                    open_slices.append((time, name))
                    continue
                began, name = open_slices.pop()
                if name.startswith("rank "):
                    runs[process, name].append((began, time, self.names[track]))
        for (_, rank), times in runs.items():
            times.sort()
            for before, after in zip(times, times[1:]):
                assert before[1] <= after[0], f"{rank} runs on {before[2]} until {before[1]}, and from {after[0]} on {after[2]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--messages", type=int)
    parser.add_argument("--open-flows", action="store_true")
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("--line", action="append", default=[])
    parser.add_argument("--has", action="append", default=[])
    parser.add_argument("--counter", action="append", default=[])
    options = parser.parse_args()
    trace = Trace(options.file)
    trace.check_slices(options.cut)
    trace.check_flows(options.open_flows)
    trace.check_runs()
    for wanted in options.has:
        category, prefix, least = wanted.split(":")
        count = sum(number for (of, track), number in trace.of_category.items() if of == category and track.startswith(prefix))
        assert count >= int(least), f"{count} events of {category} on tracks {prefix}*: {dict(trace.of_category)}"
    for counter in options.counter:
        assert counter in trace.counters, f"counters are {trace.counters}"
    tracks = [name for name in trace.names.values() if name.startswith("rank ")]
    assert len(set(tracks)) == len(tracks), "a rank has two tracks"
    if options.ranks is not None:
        assert len(tracks) == options.ranks, f"{len(tracks)} tracks of ranks"
    if options.messages is not None:
        # The runtime sends messages between processes, too.
        sent = trace.counts["send"]
        assert sent >= options.messages, f"{sent} messages"
        assert options.open_flows or trace.counts["receive"] == sent, f"{trace.counts['receive']} of {sent} received"
    for line in options.line:
        call, place = line.split("=")
        assert place in trace.places_of[call], f"{call} is at {trace.places_of[call]}"
    print(f"{sum(trace.counts.values())} slices and messages:", dict(trace.counts.most_common(12)))


if __name__ == "__main__":
    main()
