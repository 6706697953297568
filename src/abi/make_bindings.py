#!/usr/bin/env python3
"""Writes what follows from the table of MPI's functions (functions.txt, whose head explains its form).

make_bindings.py bodies OUT     declarations of the functions that implement the bindings (namespace abi::body)
make_bindings.py bindings OUT   PMPI_X for each function, which checks what all have in common and calls its body; weak MPI_X
make_bindings.py traced OUT     MPI_X for each function, in C, which calls PMPI_X between the two functions of trace.cpp
make_bindings.py checked OUT    the same for the two functions of check.cpp, which get a description of the function and all arguments
make_bindings.py functions OUT  X, for each function: its number in such descriptions
make_bindings.py header MPI_H   rewrites the list of functions in mpi.h; with --check: exits with 1 if the list is not up to date
"""
import dataclasses
import re
import sys
import textwrap
from pathlib import Path

HANDLES = {kind: "MPI_" + kind.capitalize()
           for kind in ("comm", "datatype", "errhandler", "file", "group", "info", "message", "op", "request", "session", "win")}
# Kinds of communicators that must have a topology: the class of the object that the body gets beside the communicator.
TOPOLOGIES = {"cart": "CartTopology", "graph": "GraphTopology", "dist_graph": "DistGraphTopology", "topology": "Topology"}
# Kinds of constants, which are int.
CONSTANTS = {"thread_level", "comparison", "order", "distribution", "distribution_argument", "combiner", "lock_type", "topology_type",
             "split_type", "whence", "type_class", "file_mode", "assertion"}
INTS = {"int", "rank", "root", "tag", "error", "keyval", "logical", "index", *CONSTANTS}
SCALARS = {**HANDLES, "type": "MPI_Datatype", "hints": "MPI_Info", **dict.fromkeys(TOPOLOGIES, "MPI_Comm"),
           **dict.fromkeys(INTS, "int"), "aint": "MPI_Aint", "offset": "MPI_Offset", "large": "MPI_Count"}
# Kinds with two forms: C types of the int form and of the large-count form.
SIZED = {"count": ("int", "MPI_Count"), "displacement": ("int", "MPI_Aint"), "address": ("MPI_Aint", "MPI_Count")}
# Handles that the generated code converts: the body's parameter, the conversion, the failure, the body's argument.
CONVERTED = {"group": ("const mpi::GroupHandle& {0}", "mpi::group_of({0})", "fail_group(self, {0})", "*{0}_object"),
             "hints": ("const mpi::Info& {0}", "mpi::info_of({0})", "fail_info(self)", "*{0}_object"),
             "type": ("mpi::Datatype& {0}", "mpi::datatype_from_handle({0})", "fail_datatype(self, {0})", "*{0}_object")}
# Consecutive arguments that a body gets as one struct of user_arguments.hpp: their kinds, and the struct.
GROUPS = [("buffer buffer count datatype op", "UserReduction"), ("buffer count datatype rank tag", "UserSend"),
          ("buffer count datatype rank tag", "UserReceive"), ("buffer count datatype", "UserBuffer"),
          ("buffer count[] displacement[] datatype", "UserBlocks"), ("buffer count[] displacement[] datatype[]", "UserBlocks"),
          ("buffer count[] aint[] datatype[]", "UserBlocks"),
          ("int request[]", "mpi::UserRequests"), ("logical status", "mpi::TestResult"), ("logical status[]", "mpi::TestResult"),
          ("int index[] status[]", "mpi::SomeResult"), ("rank aint count datatype", "UserTarget")]
GROUP_NAMES = {"sendbuf": "send", "recvbuf": "receive", "flag": "result", "outcount": "result", "origin_addr": "origin",
               "result_addr": "result", "target_rank": "target"}
FLAGS = {"dynamic", "any-time", "stateless", "sized", "inline", "own", "intra", "on-request", "handled", "tool", "reads"}
# Functions that need an intracommunicator, by their subject: the library does not support them on intercommunicators, or the
# standard does not allow it.
INTRA_SUBJECTS = {"one-sided communication", "files"}
LIST_BEGIN = "/* The list is written by src/abi/make_bindings.py from src/abi/functions.txt. */\n"
LIST_END = "/* clang-format on */\n"


class TableError(Exception):
    pass


@dataclasses.dataclass
class Argument:
    direction: str
    kind: str
    name: str
    suffix: str  # "", "[]", "[n]", "[n][3]"

    def is_verbatim(self):
        return self.kind.startswith("{")

    @property
    def is_array(self):
        return self.suffix != "" and self.kind != "string"

    @property
    def length(self):
        return self.suffix[1:].split("]")[0]

    def declaration(self, large):
        """The C parameter."""
        if self.is_verbatim():
            return self.kind[1:-1]
        name = self.name
        if self.kind.startswith("function "):
            return f"{self.kind.split()[1]}* {name}"
        constant = "const " if self.direction == "in" else ""
        if self.kind == "buffer":
            return f"{constant}void* {name}"
        if self.kind in ("pointer", "attribute", "extra_state"):
            return f"void* {name}"
        if self.kind in ("string", "status"):
            kind = "char" if self.kind == "string" else "MPI_Status"
            return f"{constant}{kind}* {name}"  # for an array, too: MPI_STATUSES_IGNORE is a null pointer
        base = SIZED[self.kind][large] if self.kind in SIZED else SCALARS.get(self.kind, self.kind)
        if self.is_array:
            return f"{constant}{base} {name}[]" + self.suffix[self.suffix.index("]") + 1:]
        return f"{base} {name}" if self.direction == "in" else f"{base}* {name}"

    def is_pointer(self):
        declaration = self.declaration(False)
        return "*" in declaration or "[" in declaration

    def must_not_be_null(self):
        """Whether the generated code checks the pointer: what the function writes, and statuses that it reads."""
        if self.is_verbatim() or self.kind in ("buffer", "extra_state") or self.kind.startswith("function ") or not self.is_pointer():
            return False
        if self.kind == "status":
            return self.direction != "out"
        if self.is_array:
            return self.length != ""
        return self.direction != "in"

    def is_converted(self):
        return self.kind in CONVERTED and self.direction == "in" and not self.is_array

    def body_argument(self):
        """What the generated code passes to the body."""
        return CONVERTED[self.kind][3].format(self.name) if self.is_converted() else self.name

    def body_declaration(self):
        """The parameter of the body, which serves both forms."""
        if self.is_converted():
            return CONVERTED[self.kind][0].format(self.name)
        if self.kind not in SIZED:
            return self.declaration(False)
        if self.is_array:
            return f"mpi::Integers {self.name}"
        return f"MPI_Count {self.name}" if self.direction == "in" else f"mpi::IntegerPointer {self.name}"


@dataclasses.dataclass
class Group:
    """Arguments that a body gets as one struct."""
    struct: str
    arguments: list

    def is_of_its_side(self):
        """Whether the directions are those of the struct: a buffer that is read and written belongs to neither side."""
        wanted = {"UserSend": "in", "UserReceive": "out"}.get(self.struct)
        return wanted in (None, self.arguments[0].direction)

    def body_declaration(self):
        return f"const {self.struct}& {GROUP_NAMES.get(self.arguments[0].name, 'user')}"

    def body_argument(self):
        names = [argument.name for argument in self.arguments]
        if self.struct in ("UserBuffer", "UserBlocks") and self.arguments[0].direction == "in":
            names[0] = f"const_cast<void*>({names[0]})"
        if self.struct == "mpi::UserRequests":
            return f"mpi::UserRequests::list({', '.join(names)})"
        if self.struct != "UserBlocks":
            return "{" + ", ".join(names) + "}"
        buffer, counts, displacements, datatype = names
        if self.arguments[3].is_array:
            return f'{{{{{buffer}, 0, MPI_DATATYPE_NULL}}, {counts}, {displacements}, {datatype}, {{"{counts}", "{displacements}", "{datatype}"}}}}'
        return f'{{{{{buffer}, 0, {datatype}}}, {counts}, {displacements}, nullptr, {{"{counts}", "{displacements}"}}}}'


def grouped(arguments):
    """The arguments, with a Group in the place of those that a body gets as one struct."""
    while arguments:
        for kinds, struct in GROUPS:
            group = Group(struct, arguments[:len(kinds.split())])
            if kinds == " ".join(a.kind + ("[]" if a.is_array else "") for a in group.arguments) and group.is_of_its_side():
                break
        else:
            group = arguments[0]
        yield group
        arguments = arguments[len(group.arguments) if isinstance(group, Group) else 1:]


@dataclasses.dataclass
class Function:
    chapter: str
    subject: str
    flags: set
    result: str
    body: str
    name: str
    arguments: list

    def has_large_form(self):
        return any(argument.kind in SIZED for argument in self.arguments)

    def forms(self):
        """(name, is large) of each."""
        return [(self.name, False)] + ([(self.name + "_c", True)] if self.has_large_form() else [])

    def parameters(self, large):
        return [argument.declaration(large) for argument in self.arguments]

    def comm(self):
        """The communicator whose error handler takes the function's errors; None: that of MPI_COMM_SELF."""
        return next((a for a in self.arguments if (a.kind == "comm" or a.kind in TOPOLOGIES) and not a.is_array and a.direction != "out"), None)

    def topology(self):
        """The class of the topology that the communicator must have; None: any communicator does."""
        return TOPOLOGIES.get(self.comm().kind) if self.comm() is not None else None

    def win(self):
        """The window whose error handler takes the function's errors, where there is no communicator."""
        return next((a for a in self.arguments if a.kind == "win" and a.direction != "out"), None) if self.comm() is None else None

    def file(self):
        """The file whose error handler takes the function's errors."""
        return next((a for a in self.arguments if a.kind == "file" and a.direction != "out"), None) if self.comm() is None else None

    def session(self):
        """The session whose error handler takes the function's errors."""
        return next((a for a in self.arguments if a.kind == "session" and a.direction != "out"), None) if self.comm() is None else None

    def object(self):
        """The argument whose object the frame finds."""
        return self.comm() or self.win() or self.file() or self.session()

    def completes_requests(self):
        changes = any(a.kind in ("request", "message") and a.direction == "inout" for a in self.arguments)
        return self.object() is None and (changes or "on-request" in self.flags)

    def context(self):
        """(declaration, argument) of what the frame gives to the body beside the user's arguments."""
        given = [] if "stateless" in self.flags else [("RankState& self", "self")]
        if self.completes_requests():
            given.append(("FailedComm& failed", "failed"))
        if "tool" in self.flags:
            given.append(("ToolState& tool", "tool"))
        if self.comm() is not None:
            given.append(("Comm& on", "on") if self.comm().direction == "inout" else ("Comm& comm", "on"))
        if self.topology() is not None:
            given.append((f"const mpi::{self.topology()}& {self.comm().kind}", f"*{self.comm().kind}_of_on"))
        if self.win() is not None:
            given.append(("mpi::Win& on", "on") if self.win().direction == "inout" else ("mpi::Win& win", "on"))
        if self.file() is not None:
            given.append(("mpi::File& file", "on"))
        if self.session() is not None:
            given.append(("mpi::Session& on", "on") if self.session().direction == "inout" else ("mpi::Session& session", "on"))
        return given

    def passed(self):
        """The arguments that go to the body, and groups of them."""
        return list(grouped([a for a in self.arguments if a is not self.object() or a.direction == "inout"]))

    def body_parameters(self):
        sized = ["bool is_large"] if "sized" in self.flags else []
        return [declaration for declaration, _ in self.context()] + [a.body_declaration() for a in self.passed()] + sized


def parse_argument(text):
    if text.startswith("{"):
        return Argument("in", text, re.search(r"(\w*)[\[\]]*$", text[1:-1])[1], "")
    found = re.fullmatch(r"(?:(in|out|inout) )?(function \w+|\w+) (\w+)((?:\[\w*\])*)", text)
    if not found:
        raise TableError(f"'{text}' is not an argument: [in|out|inout] KIND name[length]")
    direction, kind, name, suffix = found.groups()
    known = kind in SCALARS or kind in SIZED or kind.startswith(("function ", "MPI_T_"))
    if not known and kind not in ("buffer", "string", "status", "pointer", "attribute", "extra_state"):
        raise TableError(f"'{kind}' is not a kind of argument")
    return Argument(direction or "in", kind, name, suffix)


def parse(text):
    """The functions of the table, in its order."""
    functions = []
    chapter = subject = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        try:
            if found := re.fullmatch(r"\[(\d+) (.+)\]", line):
                chapter, subject = found.groups()
                continue
            found = re.fullmatch(r"((?:[\w:=-]+ )*)(\w+)\((.*)\)", line)
            if not found or not chapter:
                raise TableError("not [chapter subject] or Name(arguments)")
            words = found[1].split()
            flags = {word for word in words if word in FLAGS}
            bodies = [word.removeprefix("body=") for word in words if word.startswith("body=")]
            results = [word for word in words if word not in FLAGS and not word.startswith("body=")]
            arguments = [parse_argument(word) for word in found[3].split(", ")] if found[3] else []
            functions.append(Function(chapter, subject, flags, results[0] if results else "int",
                                      bodies[0] if bodies else "body::" + found[2], found[2], arguments))
        except TableError as error:
            raise TableError(f"functions.txt:{number}: {error}") from None
    names = [name for function in functions for name, _ in function.forms()]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"functions.txt: {name} is there twice")
    return functions


def body_text(functions):
    for function in functions:
        if function.body == "body::" + function.name and not function.flags & {"inline", "own"}:
            yield f"int {function.name}({', '.join(function.body_parameters())});\n"


def checks(function):
    if function.comm() is not None and ("intra" in function.flags or function.subject in INTRA_SUBJECTS):
        subject = f'"{function.subject}"' if "intra" not in function.flags else "nullptr"
        yield f"if (on.inter != nullptr) [[unlikely]] return fail_inter(self, {subject});"
    if function.topology() is not None:
        kind = function.comm().kind
        yield f"const auto* {kind}_of_on = mpi::topology_as<mpi::{function.topology()}>(on.topology);"
        yield f'if ({kind}_of_on == nullptr) return fail_topology(self, "{kind}");'
    for before, argument in zip([None, *function.arguments], function.arguments):
        if argument is function.object():
            continue
        if argument.must_not_be_null():
            condition = f"{argument.length} > 0 && " if argument.is_array else ""
            # Text of which the caller asks for the length only.
            if argument.kind == "string" and before is not None and before.direction == "inout":
                condition = f"*{before.name} > 0 && "
            name = argument.name
            yield f'if ({condition}{name} == nullptr) [[unlikely]] return fail_null(self, "{name}");'
        if argument.is_converted():
            _, conversion, failure, _ = CONVERTED[argument.kind]
            yield f"auto&& {argument.name}_object = {conversion.format(argument.name)};"
            yield f"if ({argument.name}_object == nullptr) return {failure.format(argument.name)};"
        if argument.kind == "root" and function.comm() is not None:
            name = argument.name
            yield f"if ({name} < 0 || {name} >= on.size()) [[unlikely]]"
            yield f"  if (const int error = check_inter_root(self, on, {name}); error != MPI_SUCCESS) return error;"


# Buffers in the memory of a device (device_call.hpp). A collective by its name without I, neighbor_ and _init: the shares of what it sends and
# receives.
DEVICE_SHARES = {"bcast": ("root_to_leaf",), "gather": ("one_at_leaf", "each_at_root"), "scatter": ("each_at_root", "one_at_leaf"),
                 "allgather": ("one", "each"), "alltoall": ("each", "each"), "reduce": ("one_at_leaf", "one_at_root"), "allreduce": ("one", "one"),
                 "reduce_scatter": ("one", "one"), "reduce_scatter_block": ("local_each", "one"), "scan": ("one", "one"), "exscan": ("one", "one")}
DEVICE_REQUESTS = {"started": ["Start", "Startall"], "freed": ["Request_free"],
                   "completed": [verb + what for verb in ("Wait", "Test") for what in ("", "all", "any", "some")],
                   "queried": ["Request_get_status" + what for what in ("", "_all", "_any", "_some")],
                   "readied": ["Pready", "Pready_range", "Pready_list"], "arrived": ["Parrived"]}
# A buffer and the arguments that follow it: its form, and where its count is.
DEVICE_FORMS = {"count[] displacement[] datatype": ("blocks", 1), "count[] displacement[] datatype[]": ("blocks_types", 1),
                "count[] aint[] datatype[]": ("blocks_types", 1), "count datatype": ("typed", 1), "buffer count datatype": ("typed", 2),
                "int large datatype": ("partitions", 1), "count count": ("packed", 1), "address address": ("packed", 1),
                "count[] datatype": ("own_block", 1), "buffer count[] datatype": ("operand_blocks", 2)}
# One-sided operations on one element: what follows a buffer, and how far the datatype is behind it, less one.
DEVICE_ELEMENTS = {"datatype rank": 0, "buffer datatype": 1, "buffer buffer": 2}


def has_device_buffers(function):
    """Whether the function supports buffers on a device: all but those that keep a buffer for messages."""
    if "buffer" in function.name.lower():
        return False
    return function.chapter in ("3", "4", "5", "6", "12", "14") or function.subject == "neighborhood collectives"


def device_shares(function):
    """For the buffers of a function, in their order."""
    stem = function.name.removesuffix("_init").lower()
    is_neighbor = "neighbor_" in stem
    stem = stem.split("neighbor_")[-1]
    known = next((DEVICE_SHARES[name] for name in (stem, stem[1:], stem[:-1], stem[1:-1]) if name in DEVICE_SHARES), ("one",) * 3)
    if not is_neighbor or function.chapter != "8":
        return known
    return ("one" if known[0] == "one" else "out_neighbors", "in_neighbors")


def device_buffers(function):
    # The memory of a window stays where it is; a split collective is over when it has begun.
    if function.name.startswith("Win_") or (function.chapter == "14" and function.name.endswith("_end")):
        return
    kinds = [argument.kind + ("[]" if argument.is_array else "") for argument in function.arguments]
    shares = iter(device_shares(function))
    for i, argument in enumerate(function.arguments):
        if argument.kind != "buffer":
            continue
        form, count = "unsupported", 0
        if has_device_buffers(function):
            form, count = next((DEVICE_FORMS[" ".join(kinds[i + 1:i + 1 + length])] for length in (3, 2)
                                if " ".join(kinds[i + 1:i + 1 + length]) in DEVICE_FORMS), ("unsupported", 0))
            if form == "unsupported" and function.chapter == "12":
                form, count = "element", DEVICE_ELEMENTS[" ".join(kinds[i + 1:i + 3])]
        yield (f"{{DeviceForm::{form}, DeviceShare::{next(shares, 'one')}, DeviceDirection::{argument.direction}, {i}, {i + count}}}")


def device_requests(function):
    if any(argument.kind == "request" and argument.direction == "out" for argument in function.arguments):
        return "persistent" if function.name.endswith("_init") else "made"
    return next((role for role, names in DEVICE_REQUESTS.items() if function.name in names), "none")


def may_use_device(function):
    """Whether the binding looks for buffers on a device, or for requests that have some."""
    if function.flags & {"own", "stateless", "any-time", "tool"}:
        return False
    return any(device_buffers(function)) or device_requests(function) not in ("none", "made", "persistent")


def device_function(function, name, large):
    """The function as device_call.hpp describes it."""
    arguments = function.arguments
    names = [argument.name for argument in arguments]

    def number(kind, direction=None):
        return next((i for i, a in enumerate(arguments) if a.kind == kind and direction in (None, a.direction)), -1)

    buffers = list(device_buffers(function))
    request = number("request")
    comm, win, file = (names.index(of.name) if of is not None else -1 for of in (function.comm(), function.win(), function.file()))
    is_message = function.chapter == "3"
    is_split = function.name.endswith("_begin")
    is_sized = (is_message or (function.chapter == "14" and not is_split)) and any(a.kind == "buffer" and a.direction != "in" for a in arguments)
    is_filling = "exscan" not in function.name.lower() and function.chapter not in ("4", "8", "12") and not is_split
    count_of = arguments[request].length if request >= 0 and arguments[request].is_array else None
    is_variable = request >= 0 and (arguments[request].is_array or arguments[request].direction != "in")
    has_addresses = any(a.kind == "aint" and a.is_array or a.kind == "address" and a.name == "position" for a in arguments)
    partition = next((i for i, name in enumerate(names) if name in ("partition", "partition_low", "array_of_partitions")), -1)
    flags = [large, has_addresses, is_message, is_sized, is_filling, is_variable]
    numbers = [comm, win, file, number("root"), request, names.index(count_of) if count_of else -1, number("status"), number("logical", "out"), number("index"),
               names.index("outcount") if "outcount" in names else -1, partition,
               names.index("partition_high") if "partition_high" in names else -1,
               names.index("length") if "array_of_partitions" in names else -1, len(buffers)]
    words = [f'"MPI_{name}"', f"DeviceRequests::{device_requests(function)}", *(str(flag).lower() for flag in flags), *map(str, numbers)]
    return f"static constexpr DeviceFunction device_{name} = {{{', '.join(words)}, {{{', '.join(buffers)}}}}};\n"


def binding(function, name, large):
    parameters = ", ".join(function.parameters(large)) or "void"
    given = [argument for _, argument in function.context()]
    given += [argument.body_argument() for argument in function.passed()]
    if "sized" in function.flags:
        given.append("true" if large else "false")
    call = f"return {function.body}({', '.join(given)});"
    if may_use_device(function):
        yield device_function(function, name, large)
    yield f"int PMPI_{name}({parameters}) {{\n"
    if "stateless" in function.flags:
        for argument in function.arguments:
            if argument.must_not_be_null():
                yield f'  if ({argument.name} == nullptr) return raise_null("MPI_{name}", "{argument.name}");\n'
        yield f"  {call}\n}}\n"
        return
    names = "".join(f", {argument.name}" for argument in function.arguments)
    running = f"  RankState* running = mpi::current_rank();\n  SORREL_CALL_ON_THREAD(running, {name}{names});\n"
    if "tool" in function.flags:
        yield running
        yield f'  return call_tool(running, "MPI_{name}", [&](RankState& self, ToolState& tool) -> int {{ {call} }});\n}}\n'
        return
    yield running
    if function.comm() is not None:
        frame = "call_on_variable" if function.comm().direction == "inout" else "read_on" if "reads" in function.flags else "call_on"
        yield f'  return {frame}(running, {function.comm().name}, "MPI_{name}", [&](RankState& self, Comm& on) -> int {{\n'
    elif function.win() is not None:
        frame = "call_on_win_variable" if function.win().direction == "inout" else "call_on_win"
        yield f'  return {frame}(running, {function.win().name}, "MPI_{name}", [&](RankState& self, mpi::Win& on) -> int {{\n'
    elif function.file() is not None:
        yield f'  return call_on_file(running, {function.file().name}, "MPI_{name}", [&](RankState& self, mpi::File& on) -> int {{\n'
    elif function.session() is not None:
        frame = "call_on_session_variable" if function.session().direction == "inout" else "call_on_session"
        yield f'  return {frame}(running, {function.session().name}, "MPI_{name}", [&](RankState& self, mpi::Session& on) -> int {{\n'
    elif function.completes_requests():
        yield f'  return call_on_requests(running, "MPI_{name}", [&](RankState& self, FailedComm& failed) -> int {{\n'
    else:
        frame = {"any-time": "call_any_time(running, ", "reads": "read(running, "}.get(
            next(iter(function.flags & {"any-time", "reads"}), None), "call(running, ")
        if "handled" in function.flags:
            frame = "call_with_handler(running, errhandler, "
        yield f'  return {frame}"MPI_{name}", [&](RankState& self) -> int {{\n'
    for check in checks(function):
        yield f"    {check}\n"
    on_device = f", SORREL_ON_DEVICE({name}{names})" if may_use_device(function) else ""
    yield f"    {call}\n  }}{on_device});\n}}\n"


def bindings_text(functions):
    yield '#include "abi/check.hpp"\n#include "abi/device_call.hpp"\n#include "abi/receive_bodies.hpp"\n#include "abi/reduction_bodies.hpp"\n#include "abi/send_bodies.hpp"\n#include "abi/tool_state.hpp"\n#include "mpi/comm/topology/cart.hpp"\n#include "mpi/comm/topology/dist_graph.hpp"\n#include "mpi/comm/topology/graph.hpp"\n\nnamespace sorrel::abi {\n\nextern "C" {\n\n'
    for function in functions:
        for name, large in function.forms():
            if "own" not in function.flags:
                yield from binding(function, name, large)
                yield f"SORREL_WEAK(MPI_{name})\n\n"
    yield '}  // extern "C"\n\n}  // namespace sorrel::abi\n'


def header_list(functions):
    subject = None
    for function in functions:
        if function.subject != subject:
            subject = function.subject
            yield f"\n/* {subject[0].upper() + subject[1:]}. */\n"
        for name, large in function.forms():
            parameters = ", ".join(function.parameters(large)) or "void"
            line = f"SORREL_MPI({function.result}, {name}, ({parameters}));"
            if len(line) > 100:
                words = [declaration.replace(" ", "~") for declaration in function.parameters(large)]
                rest = textwrap.fill(f"({', '.join(words)}));", 100, initial_indent=" " * 11, subsequent_indent=" " * 12)
                line = f"SORREL_MPI({function.result}, {name},\n{rest.replace('~', ' ')}"
            yield line + "\n"


def header_text(functions, old):
    """mpi.h with this list of functions."""
    begin, end = old.index(LIST_BEGIN) + len(LIST_BEGIN), old.index("\n" + LIST_END)
    return old[:begin] + "".join(header_list(functions)) + old[end:]


def is_observed(function):
    """A function that returns a time is a call of no interest, and those of profiling control themselves."""
    return function.result == "int" and function.name != "Pcontrol" and "tool" not in function.flags


def traced_text(functions):
    yield ('#include "mpi.h"\n\nvoid sorrel_trace_call(const char* name, const void* site, const MPI_Comm* comm, int root);\n'
           "void sorrel_trace_result(void);\n"
           # Absent in a wrapper of the program, which does not call them.
           "#pragma weak sorrel_trace_call\n#pragma weak sorrel_trace_result\n")
    for function in functions:
        if not is_observed(function):
            continue
        comm = function.comm()
        given = "0" if comm is None else comm.name if comm.direction == "inout" else f"&{comm.name}"
        root = next((argument.name for argument in function.arguments if argument.kind == "root"), "-1")
        for name, large in function.forms():
            parameters = ", ".join(function.parameters(large)) or "void"
            arguments = ", ".join(argument.name for argument in function.arguments)
            yield (f"\n#pragma weak PMPI_{name}\nint MPI_{name}({parameters}) {{\n"
                   f'  sorrel_trace_call("MPI_{name}", __builtin_return_address(0), {given}, {root});\n'
                   f"  const int error_class = PMPI_{name}({arguments});\n  sorrel_trace_result();\n  return error_class;\n}}\n")


# What the checker knows of an argument: its kind, if it is one of these (check/checked_call.hpp).
CHECKED_KINDS = ["other", *HANDLES, "keyval"]
DIRECTIONS = ["in", "out", "inout"]


def checked_kind(argument):
    kind = {"type": "datatype", "hints": "info", **dict.fromkeys(TOPOLOGIES, "comm")}.get(argument.kind, argument.kind)
    return CHECKED_KINDS.index(kind) if kind in CHECKED_KINDS else 0


def checked_arguments(function):
    names = [argument.name for argument in function.arguments]
    for argument in function.arguments:
        length = names.index(argument.length) if argument.is_array and argument.length in names else -1
        yield f'{{"{argument.name}", {DIRECTIONS.index(argument.direction)}, {checked_kind(argument)}, {int(argument.is_array)}, {length}}}'


def word_of(argument):
    """The argument as a word: an array or a function is a pointer."""
    return f"(intptr_t){argument.name}"


def checked_text(functions, has_own_variables=True):
    """`has_own_variables`: arguments point to variables of the program."""
    yield (Path(__file__).parent.parent / "check/checked_call.h").read_text(encoding="utf-8").replace("#pragma once\n", "")
    yield "#pragma weak sorrel_check_begin\n#pragma weak sorrel_check_end\n"
    for number, function in enumerate(functions):
        if not is_observed(function):
            continue
        arguments = ", ".join(checked_arguments(function))
        count = len(function.arguments)
        words = ", ".join(word_of(argument) for argument in function.arguments)
        names = ", ".join(argument.name for argument in function.arguments)
        synchronous = {"Send": "Ssend", "Isend": "Issend", "Send_init": "Ssend_init"}.get(function.name)
        is_collective = function.subject == "collective communication" and function.name != "Barrier"
        for name, large in function.forms():
            yield (f"\nstatic const struct sorrel_checked_argument arguments_{name}[] = {{{arguments or '{0}'}}};\n"
                   f'static const struct sorrel_checked_function function_{name} = {{"MPI_{name}", {number}, {count}, {int(large)}, arguments_{name}}};\n')
            parameters = ", ".join(function.parameters(large)) or "void"
            yield (f"#pragma weak PMPI_{name}\nint MPI_{name}({parameters}) {{\n"
                   f"  const intptr_t words[] = {{{words or '0'}}};\n"
                   f"  struct sorrel_checked_call call = {{&function_{name}, words, __builtin_return_address(0), {int(has_own_variables)}, 0, 0, 0}};\n")
            if is_collective:
                yield f"  if (sorrel_check_begin(&call) & sorrel_check_barrier) PMPI_Barrier({function.comm().name});\n"
            else:
                yield f"  {'const int change = ' if synchronous else ''}sorrel_check_begin(&call);\n"
            choice = f"change & sorrel_check_synchronous ? PMPI_{synchronous}{'_c' if large else ''}({names}) : " if synchronous else ""
            yield f"  const int error_class = {choice}PMPI_{name}({names});\n  sorrel_check_end(&call, error_class);\n  return error_class;\n}}\n"


def functions_text(functions):
    for function in functions:
        yield f"{function.name},\n"


TEXTS = {"bodies": body_text, "bindings": bindings_text, "traced": traced_text, "checked": checked_text,
         "functions": functions_text}


def main(arguments):
    check = "--check" in arguments
    arguments = [word for word in arguments if word != "--check"]
    if len(arguments) != 2 or arguments[0] not in (*TEXTS, "header"):
        sys.exit(__doc__)
    what, path = arguments[0], Path(arguments[1])
    try:
        functions = parse(Path(__file__).with_name("functions.txt").read_text(encoding="utf-8"))
    except TableError as error:
        sys.exit(f"make_bindings.py: {error}")
    old = path.read_text(encoding="utf-8") if path.exists() else None
    new = header_text(functions, old) if what == "header" else "".join(TEXTS[what](functions))
    if check and new != old:
        sys.exit(f"{path}: the list of functions is not that of src/abi/functions.txt; run src/abi/make_bindings.py header {path}")
    if not check and new != old:
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
