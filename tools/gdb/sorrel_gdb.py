"""gdb commands for programs that run under Sorrel: every rank has its own image of the program, and so its own globals.

    (gdb) source sorrel_gdb.py
    (gdb) sorrel ranks                 the images, and which threads run in them
    (gdb) sorrel print EXPR            EXPR with the globals of the selected frame's rank
    (gdb) sorrel print RANK EXPR       EXPR with the globals of rank RANK
    (gdb) sorrel all EXPR              EXPR in every rank; ranks with one value share a line

gdb itself shows symbols, lines and breakpoints of every image, but its plain `print` takes a global from the template
image, whose code never runs. Local variables are those of the selected frame in any case.
"""

import re
import struct

import gdb

# An identifier, perhaps qualified; not a member, a number's suffix or a convenience variable.
_TEMPLATE_ARGUMENTS = r"<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>"
_NAME = re.compile(r"(?<![\w.$>:\"'])(?:::)?[A-Za-z_]\w*(?:(?:%s)?::~?\w+)*" % _TEMPLATE_ARGUMENTS)
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


class Images:
    """The addresses of the ranks' images, from the library's variable sorrel_copies."""

    def __init__(self):
        try:
            address = int(gdb.parse_and_eval("(unsigned long)&sorrel_copies"))
        except gdb.error:
            raise gdb.GdbError("this program does not run under Sorrel")
        memory = gdb.selected_inferior().read_memory(address, 7 * 8)
        version, self.count, self.first, self.span, self.template_base, self.begin, self.end = struct.unpack("7Q", bytes(memory))
        if version == 0:
            raise gdb.GdbError("the ranks have not started yet")
        if version != 1:
            raise gdb.GdbError("sorrel_gdb.py is older than the program's library")

    def base(self, rank):
        return self.first + rank * self.span

    def rank_of(self, address):
        """The rank whose image holds the address, or None."""
        if self.span == 0:
            return 0 if self.begin <= address - self.template_base < self.end else None
        rank, _ = divmod(address - self.first - self.begin, self.span)
        return rank if 0 <= rank < self.count else None

    def offset_of(self, address):
        """The offset of the address in the program, from the start of its image, or None."""
        if self.begin <= address - self.template_base < self.end:
            return address - self.template_base
        rank = self.rank_of(address)
        return None if rank is None else address - self.base(rank)

    def checked(self, rank):
        if not 0 <= rank < self.count:
            raise gdb.GdbError("there is no rank %d: ranks are 0 to %d" % (rank, self.count - 1))
        return rank


def rank_of_frame(copies, frame):
    """The rank whose code is innermost on the frame's stack, or None."""
    while frame is not None:
        rank = copies.rank_of(frame.pc())
        if rank is not None:
            return rank
        frame = frame.older()
    return None


def pointer_to(name):
    """A pointer to the object of this name in the selected frame; None for a type, a register variable, a keyword."""
    try:
        return gdb.parse_and_eval("&(%s)" % name)
    except gdb.error:
        return None


def evaluate(copies, rank, expression):
    """The value of the expression, with each of the program's globals taken from the rank's image."""
    pointers = []

    def in_copy(match):
        name = match.group(0)
        pointer = pointer_to(name)
        offset = None if pointer is None else copies.offset_of(int(pointer))
        if offset is None:
            return name
        pointers.append(gdb.Value(copies.base(rank) + offset).cast(pointer.type))
        return "(*$sorrel_pointer_%d)" % (len(pointers) - 1)

    pieces = []
    position = 0
    for literal in _STRING.finditer(expression):
        pieces.append(_NAME.sub(in_copy, expression[position : literal.start()]))
        pieces.append(literal.group(0))
        position = literal.end()
    pieces.append(_NAME.sub(in_copy, expression[position:]))
    for index, pointer in enumerate(pointers):
        gdb.set_convenience_variable("sorrel_pointer_%d" % index, pointer)
    try:
        return gdb.parse_and_eval("".join(pieces))
    except gdb.error as error:
        raise gdb.GdbError("%s: %s" % (expression, error))


class Sorrel(gdb.Command):
    """Look at the ranks of a program that runs under Sorrel."""

    def __init__(self):
        super().__init__("sorrel", gdb.COMMAND_DATA, prefix=True)


class Ranks(gdb.Command):
    """sorrel ranks: the address of each rank's image of the program, and the threads that run in it."""

    def __init__(self):
        super().__init__("sorrel ranks", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        copies = Images()
        threads = {}
        selected = gdb.selected_thread()
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
            thread.switch()
            threads.setdefault(rank_of_frame(copies, gdb.newest_frame()), []).append(str(thread.num))
        if selected is not None:
            selected.switch()
        for rank in range(copies.count):
            running = "  thread " + ", ".join(threads[rank]) if rank in threads else ""
            gdb.write("rank %4d  image at %#x%s\n" % (rank, copies.base(rank), running))


class Print(gdb.Command):
    """sorrel print [RANK] EXPR: an expression with the globals of a rank, else of the selected frame's rank."""

    def __init__(self):
        super().__init__("sorrel print", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        copies = Images()
        match = re.match(r"\s*(\d+)\s+(\S.*)$", argument)
        if match:
            rank, expression = copies.checked(int(match.group(1))), match.group(2)
        else:
            rank, expression = rank_of_frame(copies, gdb.selected_frame()), argument
            if rank is None:
                raise gdb.GdbError("the selected frame is in no rank: sorrel print RANK EXPR")
        if not expression.strip():
            raise gdb.GdbError("usage: sorrel print [RANK] EXPR")
        gdb.write("rank %d: %s\n" % (rank, evaluate(copies, rank, expression).format_string()))


class All(gdb.Command):
    """sorrel all EXPR: an expression in every rank; ranks with the same value share a line."""

    def __init__(self):
        super().__init__("sorrel all", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("usage: sorrel all EXPR")
        copies = Images()
        ranks_of = {}
        for rank in range(copies.count):
            ranks_of.setdefault(evaluate(copies, rank, argument).format_string(), []).append(rank)
        for value, ranks in ranks_of.items():
            gdb.write("%s: %s\n" % (as_ranges(ranks), value))


def as_ranges(ranks):
    """[0, 1, 2, 5] as "rank 0-2,5"."""
    ranges = []
    for rank in ranks:
        if ranges and ranges[-1][1] == rank - 1:
            ranges[-1][1] = rank
        else:
            ranges.append([rank, rank])
    return "rank " + ",".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in ranges)


for command in (Sorrel, Ranks, Print, All):
    command()
