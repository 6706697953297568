"""gdb commands for programs that run under Sorrel: every rank has its own image of the program, and so its own globals.

    (gdb) source sorrel_gdb.py
    (gdb) sorrel ranks                 the images, and which threads run in them
    (gdb) sorrel print EXPR            EXPR with the globals of the selected frame's rank
    (gdb) sorrel print RANK EXPR       EXPR with the globals of rank RANK
    (gdb) sorrel all EXPR              EXPR in every rank; ranks with one value share a line
    (gdb) sorrel stacks                the calls in progress of every rank; ranks with the same calls share them
    (gdb) sorrel stacks RANK           those of one rank

gdb itself shows symbols, lines and breakpoints of every image, but its plain `print` takes a global from the template
image, whose code never runs. Local variables are those of the selected frame in any case.
"""

import os
import re
import struct
import time

import gdb
import gdb.unwinder

# An identifier, perhaps qualified; not a member, a number's suffix or a convenience variable.
_TEMPLATE_ARGUMENTS = r"<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>"
_NAME = re.compile(r"(?<![\w.$>:\"'])(?:::)?[A-Za-z_]\w*(?:(?:%s)?::~?\w+)*" % _TEMPLATE_ARGUMENTS)
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


def read_table(name, count):
    """The numbers in a variable of the library."""
    try:
        address = int(gdb.parse_and_eval("(unsigned long)&%s" % name))
    except gdb.error:
        raise gdb.GdbError("this program does not run under Sorrel")
    table = read_numbers(address, count)
    if table[0] == 0:
        raise gdb.GdbError("the ranks have not started")
    if table[0] != 1:
        raise gdb.GdbError("sorrel_gdb.py is older than the program's library")
    return table[1:]


def read_numbers(address, count):
    return struct.unpack("%dQ" % count, bytes(gdb.selected_inferior().read_memory(address, 8 * count)))


class Images:
    """The addresses of the ranks' images, from the library's variable sorrel_copies."""

    def __init__(self):
        self.count, self.first, self.span, self.template_base, self.begin, self.end = read_table("sorrel_copies", 7)

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


class SuspendedRank(gdb.unwinder.Unwinder):
    """While a context is set, the caller of the selected thread's newest frame is what is suspended in that context."""

    # The name of the stack pointer, the size of a context and the offsets of registers in it: src/arch/context_*.S.
    _LAYOUTS = {
        "i386:x86-64": ("rsp", 64, {"rip": 56, "rbp": 48, "rbx": 40, "r12": 32, "r13": 24, "r14": 16, "r15": 8}),
        "aarch64": ("sp", 176, dict({"pc": 88}, **{"x%d" % (19 + i): 8 * i for i in range(12)})),
    }

    class _FrameId:
        def __init__(self, context):
            self.sp, self.pc = gdb.Value(context), gdb.Value(0)

    def __init__(self):
        super().__init__("sorrel suspended rank")
        self._context = None

    def select(self, context):
        """None: the thread's own frames again."""
        self._context = None
        gdb.invalidate_cached_frames()
        if context is None:
            return
        frame = gdb.newest_frame()
        name = frame.architecture().name()
        if name not in self._LAYOUTS:
            raise gdb.GdbError("the stacks of ranks that wait are not supported on %s" % name)
        self._layout = self._LAYOUTS[name]
        self._thread_stack = int(frame.read_register(self._layout[0]))
        self._context = context
        gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if self._context is None or int(pending.read_register(self._layout[0])) != self._thread_stack:
            return None
        stack_pointer, size, offsets = self._layout
        saved = read_numbers(self._context, size // 8)
        unwound = pending.create_unwind_info(self._FrameId(self._context))
        for name, value in [(stack_pointer, self._context + size)] + [(name, saved[at // 8]) for name, at in offsets.items()]:
            unwound.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return unwound


class Stacks(gdb.Command):
    """sorrel stacks [RANK]: the calls in progress of every rank, or of one, also of ranks that wait.
Ranks with the same calls share them, the fewest ranks first. The process is stopped."""

    _DEPTH_MAX = 64
    _READY, _WAITING, _ENDED = 2, 3, 4
    _C_LIBRARY = re.compile(r"(libc|libm|libpthread|ld-linux[-\w]*|ld)[-.\d]*\.so")
    _SECONDS_OF_SILENCE = 2

    def __init__(self):
        super().__init__("sorrel stacks", gdb.COMMAND_STACK)
        self._suspended = SuspendedRank()
        gdb.unwinder.register_unwinder(None, self._suspended, replace=True)

    def invoke(self, argument, from_tty):
        (count, self._first, self._fibers, self._context_at, self._state_at, self._stack, self._pitch, self._stack_bytes,
         self._switch) = read_table("sorrel_ranks", 10)
        ranks = range(self._first, self._first + count)
        if argument.strip():
            if not argument.strip().isdigit() or int(argument) not in ranks:
                raise gdb.GdbError("usage: sorrel stacks [RANK]; the ranks of this process are %d to %d" % (ranks[0], ranks[-1]))
            ranks = [int(argument)]
        thread, frame = gdb.selected_thread(), gdb.selected_frame()
        groups = {}
        reported = time.monotonic()
        try:
            threads = self._threads(count)
            for rank in ranks:
                groups.setdefault(self._calls(rank, threads), []).append(rank)
                if time.monotonic() > reported + self._SECONDS_OF_SILENCE:
                    reported = time.monotonic()
                    gdb.write("%d of %d ranks\n" % (rank - self._first + 1, count), gdb.STDLOG)
                    gdb.flush(gdb.STDLOG)
        finally:
            self._suspended.select(None)
            thread.switch()
            if frame.is_valid():
                frame.select()
        for calls, ranks in sorted(groups.items(), key=lambda group: (len(group[1]), group[1])):
            gdb.write("%s%s\n" % (as_ranges(ranks), " (%d)" % len(ranks) if len(ranks) > 1 else ""))
            for index, call in enumerate(calls):
                gdb.write("  #%d %s\n" % (index, call))

    def _threads(self, count):
        """By rank, the thread that runs on its stack."""
        every = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
        if self._stack_bytes == 0:
            return {self._first: every[0]}
        threads = {}
        for thread in every:
            thread.switch()
            offset = int(gdb.newest_frame().read_register("sp")) - self._stack
            index, within = divmod(offset, self._pitch)
            if 0 <= index < count and within < self._stack_bytes:
                threads[self._first + index] = thread
        return threads

    def _calls(self, rank, threads):
        """What a group has in common."""
        (fiber,) = read_numbers(self._fibers + 8 * (rank - self._first), 1)
        (context,) = read_numbers(fiber + self._context_at, 1)
        state = bytes(gdb.selected_inferior().read_memory(fiber + self._state_at, 1))[0]
        if state == self._ENDED:
            return ("(has ended)",)
        if rank in threads:
            threads[rank].switch()
            self._suspended.select(None)
            frame = gdb.newest_frame()
            # Its registers are partly those of another rank.
            if frame.function() is None and 0 <= frame.pc() - self._switch < 0x80 or frame.name() == "sorrel_switch_context":
                return ("(its worker switches between ranks)",)
        elif state in (self._READY, self._WAITING) and context != 0:
            self._suspended.select(context)
            frame = gdb.newest_frame().older()
        else:
            return ("(not known: it runs on a stack of its own)",)
        return tuple(self._program_calls(frame)) or ("(not known)",)

    def _program_calls(self, frame):
        """The calls of the program, and the function of a library of Sorrel in which they end; the innermost first."""
        calls = []
        while frame is not None and len(calls) < self._DEPTH_MAX:
            calls.append(frame)
            frame = frame.older()
        owners = [self._owner(frame) for frame in calls]
        while owners and owners[-1] != "program":
            owners.pop()
        program = owners.index("program") if "program" in owners else len(owners)
        begin = program - 1 if "sorrel" in owners[:program] else 0
        return [self._text(frame, owner) for frame, owner in list(zip(calls, owners))[begin:]]

    def _owner(self, frame):
        """Whose code a frame is in."""
        path = gdb.solib_name(frame.pc()) or ""
        if os.path.basename(path).startswith("libsorrel") or path == gdb.solib_name(self._switch):
            return "sorrel"
        is_start = frame.name() in ("_start", "__libc_start_main", "__libc_start_call_main")
        return "system" if is_start or self._C_LIBRARY.match(os.path.basename(path)) else "program"

    @staticmethod
    def _text(frame, owner):
        name = frame.name() or "%#x" % frame.pc()
        if owner == "sorrel":
            return re.sub("^(sorrel::abi::)?PMPI_", "MPI_", name)
        place = frame.find_sal()
        if place.symtab is None:
            return name
        return "%s (%s:%d)" % (name, os.path.basename(place.symtab.filename), place.line)


def as_ranges(ranks):
    """[0, 1, 2, 5] as "rank 0-2,5"."""
    ranges = []
    for rank in ranks:
        if ranges and ranges[-1][1] == rank - 1:
            ranges[-1][1] = rank
        else:
            ranges.append([rank, rank])
    return "rank " + ",".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in ranges)


for command in (Sorrel, Ranks, Print, All, Stacks):
    command()
