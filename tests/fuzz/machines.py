"""Damaged machine files as input of `sorrel plan`."""

from __future__ import annotations

import json
import pathlib
import random

import trial
import values

TOKENS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"true", b"1e999", b"-1", b"\xff", b"\0", b"\\u0000", b"[[[[[["]


class Machines:
    def __init__(self, build: pathlib.Path, seed: int) -> None:
        self.sorrel = str(build / "bin/sorrel")
        root = pathlib.Path(__file__).resolve().parents[2]
        folders = [root / "machines", root / "tests/fuzz/corpus/machine_file"]
        self.bases = [path.read_bytes() for folder in folders for path in sorted(folder.glob("*.json"))]
        self.seed = seed

    def try_one(self, index: int, folder: pathlib.Path) -> tuple[str, str]:
        random_ = random.Random(f"{self.seed}-{index}")
        data = self.damaged(random_)
        (folder / "machine.json").write_bytes(data)
        words = [self.sorrel, "plan", "64", "48", "100", "-n", random_.choice(["1", "6", "64", "1000"])]
        words += ["--machine", "machine.json", *(["--json"] if random_.random() < 0.5 else [])]
        outcome = trial.run(words, folder, trial.clean_environment(folder))
        fault = trial.fault_of_command(outcome) or trial.fault_of_refusal(outcome) or trial.fault_of_text(outcome.out)
        if not fault and outcome.status not in (0, 2):
            fault = f"status {outcome.status}"
        if not fault and outcome.status == 0 and any(word in outcome.out.lower() for word in (b"nan", b"inf ", b"inf\n")):
            fault = "a plan whose times are no numbers"
        return fault, outcome.text()

    def damaged(self, random_: random.Random) -> bytes:
        data = random_.choice(self.bases)
        if random_.random() < 0.6:
            tree = json.loads(data)
            for _ in range(random_.randint(1, 3)):
                damage_tree(tree, random_)
            return json.dumps(tree, ensure_ascii=random_.random() < 0.5).encode(errors="surrogateescape")
        for _ in range(random_.randint(1, 4)):
            data = damage_bytes(data, random_)
        return data


def damage_bytes(data: bytes, random_: random.Random) -> bytes:
    at = random_.randrange(len(data) + 1)
    end = min(len(data), at + random_.choice([0, 1, 2, 8, 64, 4096]))
    match random_.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[end:]
        case 2:
            return data[:at] + random_.choice(TOKENS) * random_.choice([1, 1, 1, 50_000]) + data[at:]
        case 3:
            return data[:at] + data[at:end] * random_.choice([2, 3, 100]) + data[end:]
        case _:
            return data[:at] + bytes([random_.randrange(256)]) + data[at + 1 :]


def damage_tree(tree: dict, random_: random.Random) -> None:
    """Changes, removes, repeats or renames one member somewhere below `tree`."""
    places = []

    def visit(node: object) -> None:
        keys = range(len(node)) if isinstance(node, list) else list(node) if isinstance(node, dict) else []
        for key in keys:
            places.append((node, key))
            visit(node[key])

    visit(tree)
    if not places:
        return
    node, key = random_.choice(places)
    match random_.randrange(6):
        case 0:
            del node[key]
        case 1 if isinstance(node, dict):
            node[values.bad(random_)] = node.pop(key)
        case 1 | 2:
            node[key] = random_.choice([None, True, [], {}, "", [[]], {"value": 1}, [node[key]] * 3, random_.choice(places)[1]])
        case 3 if isinstance(node, list):
            node.extend([node[key]] * random_.choice([1, 10, 2000]))
        case _:
            node[key] = random_.choice([0, -1, 1, 0.5, 1e-300, 1e300, -1e300, 2**31, 2**63, 2**64, 10**18, 10**30, 1e9, 1e6])
