"""Results of a launch, kept as one JSON object in a line: a run that is interrupted goes on where it was."""
import json
import os
import threading

from entry import Result


class Store:
    """The file with the results of one launch. The last line with a key counts. Any thread may add."""

    def __init__(self, path):
        self.path = path
        self._lock = threading.Lock()
        self.results = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("}\n"):  # else: the last line of a run that was killed
                        result = Result.from_json(json.loads(line))
                        self.results[result.key] = result

    def add(self, result):
        with self._lock:
            self.results[result.key] = result
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(result.to_json()) + "\n")


def wanted(entries, results, again):
    """The entries to run: those without a result; with again='failed' also those that failed, with again='all' each."""
    def is_wanted(entry):
        old = results.get(entry.key)
        return again == "all" or old is None or (again == "failed" and old.outcome.group == "failed")
    return [entry for entry in entries if is_wanted(entry)]
