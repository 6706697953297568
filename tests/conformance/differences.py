"""What a launch makes of the entries that pass in another one: programs built for other MPIs beside those of Sorrel's own headers."""
import collections

from entry import Outcome

NOT_BUILT = (Outcome.MISSING, Outcome.UNBUILT)


def is_compared(result, reference):
    """Whether an entry counts: it compiles, upstream wants it to be run, and it does not fail in the reference, too."""
    if result.outcome in NOT_BUILT or result.outcome.group == "not applicable":
        return False
    return result.outcome is Outcome.PASSED or (reference is not None and reference.outcome is Outcome.PASSED)


def table(by_launch, reference, titles):
    """Lines: a row for each chapter; a cell is "passed of compared". `by_launch` and `reference` have results by key."""
    counts = {launch: collections.defaultdict(lambda: [0, 0]) for launch in by_launch}
    for launch, results in by_launch.items():
        for key, result in results.items():
            if is_compared(result, reference.get(key)):
                cell = counts[launch][result.chapter]
                cell[0] += result.outcome is Outcome.PASSED
                cell[1] += 1
    chapters = list(dict.fromkeys(chapter for cells in counts.values() for chapter in cells))
    lines = ["| Chapter | " + " | ".join(titles[launch] for launch in counts) + " |", "|---|" + "---|" * len(counts)]
    for chapter in chapters:
        cells = [f"{cells[chapter][0]} of {cells[chapter][1]}" if chapter in cells else "" for cells in counts.values()]
        lines.append(f"| {chapter} | " + " | ".join(cells) + " |")
    sums = [[sum(cell[i] for cell in cells.values()) for i in (0, 1)] for cells in counts.values()]
    lines.append("| all | " + " | ".join(f"{passed} of {compared}" for passed, compared in sums) + " |")
    return lines


def differing(by_launch, reference):
    """(key, launch, outcome) of each entry that passes in the reference and not in a launch, those included that do not compile."""
    for launch, results in by_launch.items():
        for key, result in results.items():
            other = reference.get(key)
            if other is not None and other.outcome is Outcome.PASSED and result.outcome.group != "passed":
                yield key, launch, result.outcome.value + (f", {result.reason}" if result.reason else "")
