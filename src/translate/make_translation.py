#!/usr/bin/env python3
"""Writes the translation of another MPI's binary interface from the table of MPI's functions (src/abi/functions.txt) and the values
of that interface (FAMILY.txt, whose head explains its form).

make_translation.py table OUT             C: the struct of the standard's functions
make_translation.py runtime OUT           C: that struct, filled in
make_translation.py names OUT             C: the standard's functions under their names, which call those of the struct
make_translation.py traced OUT            C: a table of functions that trace calls of the struct's (libsorrel-trace)
make_translation.py checked OUT           C: a table of functions that check calls of the struct's (libsorrel-check)
make_translation.py values FAMILY OUT     C: the family's constants, predefined handles, and the conversions of both
make_translation.py functions FAMILY OUT  C: the family's functions, each of which converts its arguments and calls the standard's
make_translation.py header FAMILY OUT     mpi.h of the family, for tests on machines without that MPI
make_translation.py cxx FAMILY OUT              C: the objects of Open MPI's C++ bindings
make_translation.py fortran FAMILY OUT          C: the family's bindings for Fortran, over its C functions
make_translation.py fortran_handles FAMILY OUT  C: conversions of handles for these bindings
make_translation.py fortran_names FAMILY OUT    linker script: further names of these bindings
make_translation.py fortran_constants FAMILY OUT  C: constants of mpi_f08 that are variables
make_translation.py fortran_header FAMILY OUT   mpif.h of the family, for tests
"""
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(SOURCE / "abi"), str(SOURCE / "fortran")]

import make_bindings  # noqa: E402
import make_fortran  # noqa: E402
from make_bindings import HANDLES, SIZED, TOPOLOGIES  # noqa: E402

HANDLE_OF = {**{kind: kind for kind in HANDLES}, "type": "datatype", "hints": "info", **dict.fromkeys(TOPOLOGIES, "comm")}
FAMILIES = ("openmpi", "mpich")
# Constants by kind of argument. Those of the last two kinds are combined with |.
CONSTANTS = {
    "rank": ["ANY_SOURCE", "PROC_NULL", "ROOT"],
    "tag": ["ANY_TAG"],
    "keyval": ["KEYVAL_INVALID", "TAG_UB", "IO", "HOST", "WTIME_IS_GLOBAL", "APPNUM", "LASTUSEDCODE", "UNIVERSE_SIZE", "WIN_BASE",
               "WIN_DISP_UNIT", "WIN_SIZE", "WIN_CREATE_FLAVOR", "WIN_MODEL"],
    "thread_level": ["THREAD_SINGLE", "THREAD_FUNNELED", "THREAD_SERIALIZED", "THREAD_MULTIPLE"],
    "comparison": ["IDENT", "CONGRUENT", "SIMILAR", "UNEQUAL"],
    "order": ["ORDER_C", "ORDER_FORTRAN"],
    "distribution": ["DISTRIBUTE_NONE", "DISTRIBUTE_BLOCK", "DISTRIBUTE_CYCLIC"],
    "distribution_argument": ["DISTRIBUTE_DFLT_DARG"],
    "combiner": "COMBINER_",
    "lock_type": ["LOCK_EXCLUSIVE", "LOCK_SHARED"],
    "topology_type": ["CART", "GRAPH", "DIST_GRAPH"],
    "split_type": "COMM_TYPE_",
    "whence": ["SEEK_SET", "SEEK_CUR", "SEEK_END"],
    "type_class": "TYPECLASS_",
    "error": ("ERR_", "T_ERR_"),
    "verbosity": "T_VERBOSITY_",
    "bind": "T_BIND_",
    "scope": "T_SCOPE_",
    "var_class": "T_PVAR_CLASS_",
    "win_flavor": "WIN_FLAVOR_",
    "win_model": ["WIN_SEPARATE", "WIN_UNIFIED"],
    "file_mode": ["MODE_APPEND", "MODE_CREATE", "MODE_DELETE_ON_CLOSE", "MODE_EXCL", "MODE_RDONLY", "MODE_RDWR", "MODE_SEQUENTIAL",
                  "MODE_UNIQUE_OPEN", "MODE_WRONLY"],
    "assertion": ["MODE_NOCHECK", "MODE_NOPRECEDE", "MODE_NOPUT", "MODE_NOSTORE", "MODE_NOSUCCEED"],
}
MASKS = {"file_mode", "assertion"}
# Kinds with the constants of another kind.
SAME = {"root": "rank"}
# Arguments of the tool information interface whose names say which constants they have.
TOOL_CONSTANTS = {"verbosity", "bind", "scope", "var_class"}
WEIGHTS = {"weights", "sourceweights", "destweights"}
# Functions whose arguments the table does not describe: by_hand.c, callbacks.c, bounds.c and tools.c.
BY_HAND = {"Init", "Init_thread", "Op_create", "Op_create_c", "Comm_create_errhandler", "Win_create_errhandler", "File_create_errhandler",
           "Session_create_errhandler", "Comm_create_keyval", "Type_create_keyval", "Win_create_keyval", "Keyval_create", "Grequest_start",
           "Register_datarep", "Register_datarep_c", "Comm_get_attr", "Win_get_attr", "Attr_get", "Type_get_contents",
           "Type_get_contents_c", "Type_create_struct", "Type_create_struct_c", "Type_match_size", "Get_version", "Abi_get_version", "Info_set", "File_set_view", "Pcontrol", "Comm_spawn", "Comm_spawn_multiple",
           "T_cvar_handle_alloc", "T_pvar_handle_alloc"}
# Open MPI's objects whose addresses are in the line of the cache that each call reads (openmpi.h).
HOT_OBJECTS = ("COMM_WORLD", "COMM_NULL", "COMM_SELF", "REQUEST_NULL")
# Open MPI's objects that lie first: frequent ones share lines of the cache.
FIRST_OBJECTS = ("DOUBLE", "SUM", "INT", "BYTE", "FLOAT", "MAX", "MIN", "CHAR")
# Open MPI's MPI_2COMPLEX and MPI_2DOUBLE_COMPLEX, which other MPIs lack. Tables of programs name them; functions find a null handle in them.
BEYOND_MPI = ("ompi_mpi_2cplex", "ompi_mpi_2dblcplex")
# Functions that write the program's request themselves where requests are equal in both interfaces: they write it only if they succeed, and never
# MPI_REQUEST_NULL.
WRITE_REQUESTS = {"openmpi": {"Isend", "Issend", "Irsend", "Irecv"}}
# Functions that a file has by hand, and of which the table yields the general form f_any_NAME.
WITH_SHORT_FORM = {"Waitall"}
# Functions that wait for other ranks, in a fiber: translate.h says how they return.
WAITING = {"Recv", "Mrecv", "Ssend", "Wait", "Waitall", "Waitany", "Waitsome", "Probe", "Mprobe", "Sendrecv", "Sendrecv_replace", "Barrier",
           "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce",
           "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"}
# Chapters that the interfaces before the standard's have otherwise or lack.
WITHOUT = {"19 handles as integers"}
# Events of the tool information interface, whose callbacks have constants of their own.
EVENTS = re.compile(r"T_(event|source)_\w+|T_category_get_(num_)?events")
# Functions of the standard's interface itself.
STANDARD_ONLY = {"Abi_get_fortran_booleans", "Abi_get_fortran_info", "Abi_get_info", "Abi_set_fortran_booleans", "Abi_set_fortran_info"}
# Persistent collectives have names with MPIX_ in Open MPI 4, too.
PERSISTENT = re.compile(r"((Neighbor_a|A)ll|Barrier|Bcast|Exscan|Gather|Reduce|Scan|Scatter)\w*_init")
# In the first word of Open MPI's objects (openmpi.h).
MAGIC = 0x9b1d6f20e4c3a785
# Families with the large-count forms.
LARGE = {"mpich"}


def table():
    return make_bindings.parse((SOURCE / "abi/functions.txt").read_text(encoding="utf-8"))


def standard_values():
    """The constants of mpi.h: name without MPI_ -> text of the value."""
    text = (SOURCE.parent / "include/mpi/mpi.h").read_text(encoding="utf-8")
    return {found[1]: found[2] for found in re.finditer(r"#define MPI_(\w+) (.+)", text)}


class Family:
    def __init__(self, name):
        self.name = name
        self.constants = {}
        self.handles = []  # (kind, name, object or value, Fortran integer)
        for line in (SOURCE / "translate" / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            words = line.split()
            if not words or words[0] == "#":
                continue
            if words[0].startswith("MPI_"):
                self.constants[words[0][4:]] = int(words[1], 0)
            else:
                self.handles.append((words[0].lower(), words[1][4:], words[2], words[3] if len(words) > 3 else words[2]))

    def names_of(self, kind):
        """Constants of this kind that the family has."""
        wanted = CONSTANTS[kind]
        names = wanted if isinstance(wanted, list) else [name for name in self.constants if name.startswith(wanted)]
        return [name for name in names if name in self.constants and name != "ERR_LASTCODE"]

    def of_kind(self, kind):
        return [handle for handle in self.handles if handle[0] == kind]

    def functions(self):
        """(function, name, is large) of each that is translated."""
        for function in table():
            if f"{function.chapter} {function.subject}" in WITHOUT or function.name in STANDARD_ONLY or EVENTS.fullmatch(function.name):
                continue
            for name, large in function.forms():
                if name.endswith("_c") and self.name not in LARGE:
                    continue
                yield function, name, large


# ---- The standard's functions -----------------------------------------------------------------------------------------------------


def table_text():
    yield '#pragma once\n#include "mpi.h"\n\n/* The functions of the standard\'s interface. */\nstruct sorrel_standard_functions {\n'
    for function in table():
        for name, _ in function.forms():
            yield f"  __typeof__(&PMPI_{name}) {name};\n"
    yield "};\n\n"
    for name in ("standard", "runtime"):
        yield f"extern const struct sorrel_standard_functions sorrel_{name}_functions __attribute__((visibility(\"default\")));\n"


def runtime_text():
    yield '#include "standard_functions.h"\n\nconst struct sorrel_standard_functions sorrel_runtime_functions = {\n'
    for function in table():
        for name, _ in function.forms():
            yield f"    .{name} = PMPI_{name},\n"
    yield "};\n\n/* The name under which translations look for it: a library that observes calls has another table. */\n"
    yield ("extern const struct sorrel_standard_functions sorrel_standard_functions\n"
           "    __attribute__((weak, alias(\"sorrel_runtime_functions\")));\n")


def names_text():
    """Calls in the last place of a function are jumps: no frame of these functions is on the stack."""
    yield '#include "standard_functions.h"\n\n#define NAMED __attribute__((visibility("default")))\n'
    for function in table():
        for name, large in function.forms():
            parameters = ", ".join(a.declaration(large) for a in function.arguments) or "void"
            given = ", ".join(a.name for a in function.arguments if "..." not in a.declaration(large))
            yield f"\nNAMED {function.result} PMPI_{name}({parameters}) {{\n  return sorrel_standard_functions.{name}({given});\n}}\n"
            yield f"NAMED {function.result} MPI_{name}({parameters}) __attribute__((weak, alias(\"PMPI_{name}\")));\n"


def observed_text(functions_text):
    """The functions of a library that observes calls, static, and a table of them in place of the runtime's."""
    yield ('#include "standard_functions.h"\n#define RUNTIME sorrel_runtime_functions\n'
           "/* Absent in a wrapper of the program, which does not call them. */\n#pragma weak sorrel_runtime_functions\n")
    text = "".join(functions_text)
    text = re.sub(r"#pragma weak PMPI_\w+\nint MPI_(\w+)\(", r"static int observed_\1(", text)
    yield re.sub(r"\bPMPI_(\w+)\(", r"RUNTIME.\1(", text)
    forms = [(function, name, large) for function in table() for name, large in function.forms()]
    for function, name, large in forms:
        if not make_bindings.is_observed(function):
            parameters = ", ".join(a.declaration(large) for a in function.arguments) or "void"
            given = ", ".join(a.name for a in function.arguments if "..." not in a.declaration(large))
            yield f"\nstatic {function.result} observed_{name}({parameters}) {{\n  return RUNTIME.{name}({given});\n}}\n"
    yield "\nconst struct sorrel_standard_functions sorrel_standard_functions = {\n"
    for _, name, _ in forms:
        yield f"    .{name} = observed_{name},\n"
    yield "};\n"


def traced_text():
    return observed_text(make_bindings.traced_text(table()))


def checked_text():
    """Handles are in variables of the translation."""
    return observed_text(make_bindings.checked_text(table(), has_own_variables=False))


# ---- Values -----------------------------------------------------------------------------------------------------------------------


def switch(kind, family, to_standard):
    """A conversion of numbers. A number that would become a constant of the standard by accident becomes one that no function takes."""
    standard = standard_values()
    name = f"{'to' if to_standard else 'from'}_{kind}"
    pairs = [(family.constants[n], int(standard[n].strip("()"), 0), n) for n in family.names_of(kind) if n in standard]
    yield f"static inline int {name}_other(int value) {{\n  switch (value) {{\n"
    seen = set()
    for own, other, constant in pairs:
        key, result = (own, other) if to_standard else (other, own)
        if key not in seen and key != result:
            yield f"    case {key}: return {result}; /* MPI_{constant} */\n"
        elif key not in seen:
            yield f"    case {key}: return {key};\n"
        seen.add(key)
    if to_standard:
        for _, other, constant in pairs:
            if other not in seen:
                yield f"    case {other}: return sorrel_invalid;\n"
                seen.add(other)
        if kind == "error":
            yield f"    default: return value > MPI_ERR_LASTCODE + F_CODE_SHIFT ? value - F_CODE_SHIFT : value == 0 ? 0 : MPI_ERR_UNKNOWN;\n"
        else:
            yield "    default: return value;\n"
    elif kind == "error":
        yield "    default: return value > MPI_ERR_LASTCODE ? value + F_CODE_SHIFT : value == MPI_ERR_LASTCODE ? F_MPI_ERR_LASTCODE : value == 0 ? 0 : F_MPI_ERR_OTHER;\n"
    else:
        yield "    default: return value;\n"
    yield "  }\n}\n"
    fast = {"rank": "value >= 0", "tag": "value >= 0", "error": "value == 0"}.get(kind)
    test = f"__builtin_expect({fast}, 1) ? value : " if fast else ""
    yield f"static inline int {name}(int value) {{ return {test}{name}_other(value); }}\n"


def mask(kind, family, to_standard):
    name = f"{'to' if to_standard else 'from'}_{kind}"
    ours, theirs = ("F_MPI_", "MPI_") if to_standard else ("MPI_", "F_MPI_")
    names = family.names_of(kind)
    yield f"static inline int {name}(int value) {{\n  int result = 0;\n"
    for constant in names:
        yield f"  if (value & {ours}{constant}) result |= {theirs}{constant};\n"
    known = " | ".join(ours + constant for constant in names)
    yield f"  return value & ~({known}) ? result | sorrel_unknown_bit : result;\n}}\n"


def handle_conversions_of_objects(family):
    """Handles that are addresses of exported objects. The address of another handle is that of its object in Sorrel."""
    standard = standard_values()

    def value(name):
        return int(re.search(r"0x[0-9a-f]+", standard[name])[0], 16)

    for kind, name, symbol, _ in family.handles:
        yield f"extern __attribute__((visibility(\"default\"))) struct f_object {symbol};\n"
    for kind, handle in HANDLES.items():
        own = family.of_kind(kind)
        if kind in ("datatype", "op"):
            yield (f"static inline {handle} to_{kind}(F_{handle} handle) {{\n  if ((uintptr_t)handle < first_object) return ({handle})0;\n"
                   f"  const uintptr_t word = ((const struct f_object*)handle)->word ^ f_magic;\n"
                   f"  return ({handle})(word < first_object ? word : (uintptr_t)handle);\n}}\n")
            first = min(value(name) for _, name, _, _ in own)
            last = max(value(name) for _, name, _, _ in own)
            yield f"static struct f_object* const {kind}_objects[] = {{\n"
            for _, name, symbol, _ in own:
                yield f"    [{value(name)} - {first}] = &{symbol},\n"
            null = next(symbol for _, name, symbol, _ in own if name.endswith("_NULL"))
            yield (f"}};\nstatic inline F_{handle} from_{kind}({handle} handle) {{\n"
                   f"  const uintptr_t word = (uintptr_t)handle;\n  if (word >= first_object) return (F_{handle})handle;\n"
                   f"  struct f_object* const object = word >= {first} && word <= {last} ? {kind}_objects[word - {first}] : &{null};\n"
                   f"  return (F_{handle})(object != 0 ? object : &{null});\n}}\n")
            continue
        # The most frequent handle first.
        own.sort(key=lambda one: (one[1] != "COMM_WORLD", one[1].endswith("_NULL") == (kind == "comm")))
        yield f"static inline {handle} to_{kind}(F_{handle} handle) {{\n"
        for _, name, symbol, _ in own:
            place = f"f_hot.{name.lower()}" if name in HOT_OBJECTS else f"&{symbol}"
            yield f"  if ((struct f_object*)handle == {place}) return MPI_{name};\n"
        yield f"  return (uintptr_t)handle < first_object ? ({handle})0 : ({handle})handle;\n}}\n"
        yield f"static inline F_{handle} from_{kind}({handle} handle) {{\n"
        yield f"  if ((uintptr_t)handle >= first_object) return (F_{handle})handle;\n"
        for _, name, symbol, _ in own:
            place = f"f_hot.{name.lower()}" if name in HOT_OBJECTS else f"&{symbol}"
            yield f"  if (handle == MPI_{name}) return (F_{handle}){place};\n"
        null = next(symbol for _, name, symbol, _ in own if name.endswith("_NULL"))
        yield f"  return (F_{handle})&{null};\n}}\n"


def handle_conversions_of_integers(family):
    """Handles that are integers. Another handle has the integer of MPI_X_toint, a request a place in a table."""
    for kind, handle in HANDLES.items():
        own = family.of_kind(kind)
        if kind == "file":
            yield ("static inline MPI_File to_file(F_MPI_File handle) { return handle == 0 ? MPI_FILE_NULL : (uintptr_t)handle < first_object ? (MPI_File)0 : (MPI_File)handle; }\n"
                   "static inline F_MPI_File from_file(MPI_File handle) { return handle == MPI_FILE_NULL ? (F_MPI_File)0 : (F_MPI_File)handle; }\n")
            continue
        if kind in ("datatype", "op"):
            yield from numbered(kind, handle, own)
        else:
            # The most frequent handle first.
            own.sort(key=lambda one: (one[1] != "COMM_WORLD", one[1] != "REQUEST_NULL"))
            yield f"static inline {handle} to_{kind}(F_{handle} handle) {{\n"
            if kind == "request":
                yield "  if (__builtin_expect(is_near_request(handle), 1)) return near_to_request(handle);\n"
            yield f"  if (__builtin_expect(handle == (F_{handle}){own[0][2]}u, 1)) return MPI_{own[0][1]};\n  switch ((unsigned)handle) {{\n"
            for _, name, value, _ in own[1:]:
                yield f"    case {value}u: return MPI_{name};\n"
            yield f"    default: return other_to_{kind}(handle);\n  }}\n}}\n"
        yield f"static inline F_{handle} from_{kind}({handle} handle) {{\n"
        if kind == "request":
            yield "  if (__builtin_expect(is_near(handle), 1)) return near_from_request(handle);\n"
        yield "  switch ((uintptr_t)handle) {\n"
        for _, name, value, _ in own:
            yield f"    case (uintptr_t)MPI_{name}: return (F_{handle}){value}u;\n"
        yield f"    default: return other_from_{kind}(handle);\n  }}\n}}\n"


def numbered(kind, handle, own):
    """The low byte and the sign of a predefined handle are the place of its value in a table."""
    def place(value):
        return int(value, 0) & 0xff | int(value, 0) >> 31 << 8

    if len({place(value) for _, _, value, _ in own}) != len(own):
        raise make_bindings.TableError(f"two handles of the kind {kind} have the same place")
    yield f"static const struct {{\n  unsigned own;\n  unsigned standard;\n}} {kind}_numbers[512] = {{\n"
    for _, name, value, _ in own:
        yield f"    [{place(value)}] = {{{value}u, (unsigned)(uintptr_t)MPI_{name}}},\n"
    yield (f"}};\nstatic inline {handle} to_{kind}(F_{handle} handle) {{\n  const unsigned value = (unsigned)handle;\n"
           f"  const unsigned place = (value & 0xff) | value >> 31 << 8;\n"
           f"  if (__builtin_expect({kind}_numbers[place].own == value && value != 0, 1)) return ({handle})(uintptr_t){kind}_numbers[place].standard;\n"
           f"  return other_to_{kind}(handle);\n}}\n")


def fortran_conversions(family):
    """Handles as Fortran's integers: the family's for predefined ones, Sorrel's for others."""
    standard_kind = {"datatype": "Type"}
    for kind, handle in HANDLES.items():
        own = [one for one in family.of_kind(kind) if one[3] != "-"]
        name = standard_kind.get(kind, kind.capitalize())
        yield f"static inline int fortran_of_{kind}(F_{handle} handle) {{\n"
        for _, _, symbol, number in own:
            yield f"  if ((struct f_object*)handle == &{symbol}) return {number};\n"
        yield f"  return R.{name}_toint(to_{kind}(handle));\n}}\n"
        yield f"static inline F_{handle} {kind}_of_fortran(int number) {{\n  switch (number) {{\n"
        for _, _, symbol, number in own:
            yield f"    case {number}: return (F_{handle})&{symbol};\n"
        yield f"    default: return from_{kind}(number < (int)first_object ? ({handle})0 : R.{name}_fromint(number));\n  }}\n}}\n"


def values_text(family):
    yield f"/* The values of {family.name}'s binary interface, and their conversions. */\n"
    if family.name == "openmpi":
        yield f"static const uintptr_t f_magic = {MAGIC}u;\n"
    for name, value in family.constants.items():
        yield f"#define F_MPI_{name} ({value})\n"
    yield "\n"
    for kind in CONSTANTS:
        for to_standard in (True, False):
            yield from (mask if kind in MASKS else switch)(kind, family, to_standard)
    yield ("/* What a function returns after a call of the standard's: that has converted the code if it forwards calls. */\n"
           "static inline int f_result(int error) { return f_hot.forwards != 0 ? error : from_error(error); }\n")
    if family.name == "openmpi":
        yield from handle_conversions_of_objects(family)
        yield from fortran_conversions(family)
    else:
        yield from handle_conversions_of_integers(family)


# ---- Functions --------------------------------------------------------------------------------------------------------------------


def constant_kind(function, argument):
    """The kind of its constants; None: its values are equal in all interfaces."""
    is_named = "tool" in function.flags and argument.name in TOOL_CONSTANTS
    kind = argument.name if is_named else SAME.get(argument.kind, argument.kind)
    return kind if kind in CONSTANTS else None


def foreign_declaration(argument, large):
    text = argument.declaration(large)
    return re.sub(r"\bMPI_(" + "|".join([*(h[4:] for h in HANDLES.values()), "Status"]) + r")\b", r"F_MPI_\1", text)


class Call:
    """The parts of a function: what precedes the call, its arguments, what follows."""

    def __init__(self, function, family):
        self.function = function
        self.family = family
        self.before = []
        self.given = []
        self.after = []  # if the call succeeds or not: variables that it has written
        self.ends = []
        for argument in function.arguments:
            self.add(argument)
        if function.name == "Session_init":
            self.before.append("f_hot.threads_may_call |= 2; /* whatever MPI_Init_thread has said */")

    def add(self, a):
        kind, name = HANDLE_OF.get(a.kind), a.name
        if a.is_verbatim():
            if name in WEIGHTS:
                self.given.append(f"to_weights({name})")
            elif "MPI_Group" in a.kind:
                self.given.append(f"to_group({name})")
            elif "..." not in a.kind:
                self.given.append(name)
        elif kind is not None:
            (self.add_handles if a.is_array else self.add_handle)(a, kind)
        elif a.kind == "status":
            (self.add_statuses if a.suffix else self.add_status)(a)
        elif a.kind == "buffer":
            self.given.append(f"to_buffer({name})" if a.direction == "in" else f"(void*)to_buffer({name})")
        elif a.kind == "string" and a.direction == "out" and a.suffix:
            self.add_string(a)
        elif constant_kind(self.function, a) is not None:
            (self.add_constants if a.is_array else self.add_constant)(a, constant_kind(self.function, a))
        elif a.kind == "pointer" and name == "buffer_addr" and "BUFFER_AUTOMATIC" in self.family.constants:
            self.given.append(name)
            self.after.append(f"if (outcome == MPI_SUCCESS && *(void**){name} == MPI_BUFFER_AUTOMATIC) *(void**){name} = (void*)F_MPI_BUFFER_AUTOMATIC;")
        elif a.kind == "MPI_T_pvar_handle" and a.direction == "in":
            self.given.append(f"to_pvar_handle({name})")
        elif name == "resultlen":
            self.given.append("resultlen == 0 ? 0 : &resultlen_own")
        else:
            self.given.append(name)

    def add_handle(self, a, kind):
        name, handle = a.name, HANDLES[kind]
        if a.direction == "in":
            # MPICH's C++ bindings have one handler for communicators, windows and files, that throws.
            found = re.fullmatch(r"(Comm|Win|File)_set_errhandler", self.function.name) if self.family.name == "mpich" else None
            whose = found[1].lower() + "_" if found and kind == "errhandler" else ""
            self.given.append(f"to_{whose}{kind}({name})")
            return
        start = f"{name} == 0 ? ({handle})sorrel_unset : to_{kind}(*{name})" if a.direction == "inout" else f"({handle})sorrel_unset"
        self.before.append(f"{handle} {name}_own = {start};")
        if a.direction == "inout":
            self.before.append(f"const {handle} {name}_old = {name}_own;")
        self.given.append(f"{name} == 0 ? 0 : &{name}_own")
        old = f"{name}_old" if a.direction == "inout" else f"({handle})sorrel_unset"
        store = "refresh_request" if kind == "request" and a.direction == "inout" else f"set_{kind}"
        self.after.append(f"if ({name}_own != {old}) {store}({name}, {name}_own);")

    def length_of(self, a):
        if a.length:
            return a.length
        comm = self.function.comm()
        if a.name.startswith(("sendtypes", "recvtypes")):
            if self.function.comm().kind == "topology":
                return f"neighbors(to_comm({comm.name}), {int(a.name.startswith('send'))})"
            length = f"peers(to_comm({comm.name}))"
            return f"to_buffer(sendbuf) == MPI_IN_PLACE ? 0 : {length}" if a.name == "sendtypes" else length
        raise make_bindings.TableError(f"MPI_{self.function.name}: {a.name} has no length")

    def begin_list(self, a, c_type):
        name = a.name
        self.before.append(f"const MPI_Count {name}_count = {name} == 0 ? 0 : {self.length_of(a)};")
        self.before.append(f"SORREL_LIST({c_type}, {name}_own, {name}_count);")
        self.given.append(f"{name} == 0 ? 0 : {name}_own")
        self.ends.append(f"SORREL_END_LIST({name}_own);")

    def add_handles(self, a, kind):
        name = a.name
        if a.direction == "out":
            raise make_bindings.TableError(f"MPI_{self.function.name}: {name} is an array of new handles")
        self.begin_list(a, HANDLES[kind])
        self.before.append(f"for (MPI_Count i = 0; i < {name}_count; ++i) {name}_own[i] = to_{kind}({name}[i]);")
        if a.direction == "inout":
            self.after.append(f"for (MPI_Count i = 0; i < {name}_count; ++i) refresh_{kind}(&{name}[i], {name}_own[i]);")

    def add_status(self, a):
        name = a.name
        if a.direction == "out":
            self.before.append(f"MPI_Status {name}_own;\n  SORREL_UNSET_STATUS({name}_own);")
            self.given.append(f"{name} == F_MPI_STATUS_IGNORE ? MPI_STATUS_IGNORE : &{name}_own")
            self.after.append(f"if ({name} != F_MPI_STATUS_IGNORE) from_status(&{name}_own, {name});")
            return
        self.before.append(f"MPI_Status {name}_own;\n  const int has_{name} = {name} != 0 && {name} != F_MPI_STATUS_IGNORE;\n"
                           f"  if (has_{name}) to_status({name}, &{name}_own);")
        self.given.append(f"has_{name} ? &{name}_own : 0")
        if a.direction == "inout":
            self.after.append(f"if (has_{name}) from_status(&{name}_own, {name});")

    def add_statuses(self, a):
        name = a.name
        self.before.append(f"const MPI_Count {name}_count = {name} == F_MPI_STATUSES_IGNORE ? 0 : {a.length};")
        self.before.append(f"SORREL_LIST(MPI_Status, {name}_own, {name}_count);")
        self.before.append(f"for (MPI_Count i = 0; i < {name}_count; ++i) {{ SORREL_UNSET_STATUS({name}_own[i]); }}")
        self.given.append(f"{name} == F_MPI_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : {name}_own")
        self.after.append(f"for (MPI_Count i = 0; i < {name}_count; ++i) from_status(&{name}_own[i], &{name}[i]);")
        self.ends.append(f"SORREL_END_LIST({name}_own);")

    def add_string(self, a):
        name, limit = a.name, a.length
        self.before.append(f"char {name}_own[{limit}];\n  {name}_own[0] = 0;")
        self.given.append(f"{name} == 0 ? 0 : {name}_own")
        has_length = any(one.name == "resultlen" for one in self.function.arguments)
        if has_length:
            self.before.append("int resultlen_own = 0;")
        size = "resultlen" if has_length else "0"
        self.after.append(f"if (outcome == MPI_SUCCESS) copy_text({name}_own, {name}, F_{limit}, {size});")

    def add_constant(self, a, kind):
        name = a.name
        if a.direction == "in":
            self.given.append(f"to_{kind}({name})")
            return
        start = f"{name} == 0 ? 0 : to_{kind}(*{name})" if a.direction == "inout" else "sorrel_unset_int"
        self.before.append(f"int {name}_own = {start};")
        if a.direction == "inout":
            self.before.append(f"const int {name}_old = {name}_own;")
        self.given.append(f"{name} == 0 ? 0 : &{name}_own")
        old = f"{name}_old" if a.direction == "inout" else "sorrel_unset_int"
        self.after.append(f"if ({name}_own != {old}) *{name} = from_{kind}({name}_own);")

    def add_constants(self, a, kind):
        name = a.name
        self.begin_list(a, "int")
        if a.direction == "in":
            self.before.append(f"for (MPI_Count i = 0; i < {name}_count; ++i) {name}_own[i] = to_{kind}({name}[i]);")
        else:
            self.after.append(f"if (outcome == MPI_SUCCESS) for (MPI_Count i = 0; i < {name}_count; ++i) {name}[i] = from_{kind}({name}_own[i]);")

    def is_forwarded(self):
        """Whether nothing follows the call, or a status only, which many programs ignore."""
        has_results = self.before or self.after or self.ends
        return self.function.result == "int" and not self.is_tool() and (not has_results or self.is_status_last() or self.writes_request())

    def writes_request(self):
        return self.function.name in WRITE_REQUESTS.get(self.family.name, ())

    def is_tool(self):
        """The runtime raises no error of these functions, and so converts no code."""
        return self.function.name.startswith("T_")

    def is_status_last(self):
        statuses = [a for a in self.function.arguments if a.kind == "status" and not a.suffix and a.direction == "out"]
        return len(statuses) == len(self.after) == len(self.before) == 1 and not self.ends

    def call(self, name, given=None):
        return f"S.{name}({', '.join(self.given if given is None else given)})"

    def text(self, name, large):
        """The function. One that is forwarded has two parts: a jump to the standard's function, and the rest."""
        parameters = ", ".join(foreign_declaration(a, large) for a in self.function.arguments) or "void"
        result = self.function.result
        attribute = "SORREL_WAITS " if self.function.name in WAITING else ""
        if self.is_forwarded():
            condition, given = "f_hot.forwards != 0", self.given
            if self.is_status_last():
                status = next(a.name for a in self.function.arguments if a.kind == "status")
                condition += f" && {status} == F_MPI_STATUS_IGNORE"
                given = ["MPI_STATUS_IGNORE" if "F_MPI_STATUS_IGNORE" in text else text for text in self.given]
            if self.writes_request():
                given = ["(MPI_Request*)request" if "request_own" in text else text for text in self.given]
            names = ", ".join(a.name for a in self.function.arguments)
            yield (f"\nSORREL_SLOW int slow_{name}({parameters});\nSORREL_FUNCTION(int, {name}, ({parameters})) {{\n"
                   f"  if (__builtin_expect({condition}, 1)) return {self.call(name, given)};\n  return slow_{name}({names});\n}}\n")
        elif name in WITH_SHORT_FORM:
            yield f"\n{attribute}int f_any_{name}({parameters}) {{\n{self.body(name)}}}\n"
        else:
            yield f"\n{attribute}SORREL_FUNCTION({result}, {name}, ({parameters})) {{\n  SORREL_NOTE_CALLER();\n{self.body(name)}}}\n"

    def slow_text(self, name, large):
        if self.is_forwarded():
            parameters = ", ".join(foreign_declaration(a, large) for a in self.function.arguments) or "void"
            attribute = "SORREL_WAITS " if self.function.name in WAITING else ""
            yield f"\n{attribute}SORREL_SLOW int slow_{name}({parameters}) {{\n  SORREL_NOTE_CALLER();\n{self.body(name)}}}\n"

    def body(self, name):
        call = self.call(name)
        if self.function.result != "int":
            return f"  return {call};\n"
        lines = [f"  {line}\n" for line in self.before]
        result = "from_error" if self.is_tool() else "f_result"
        if self.after or self.ends:
            lines.append(f"  const int outcome = {call};\n")
            lines += [f"  {line}\n" for line in (*self.after, *self.ends)]
            lines.append(f"  return {result}(outcome);\n")
        else:
            lines.append(f"  return {result}({call});\n")
        return "".join(lines)


def functions_text(family):
    """Functions that wait come first, in the page of the code by which they return."""
    yield f'#include "translate/{family.name}.h"\n#pragma GCC diagnostic ignored "-Waddress"\n#pragma GCC diagnostic ignored "-Wunused-parameter"\n'
    if family.name == "openmpi":
        yield from objects_text(family)
    yield "SORREL_RETURN_OF_WAITS\n"
    calls = [(Call(function, family), name, large) for function, name, large in family.functions() if name not in BY_HAND]
    calls.sort(key=lambda one: one[0].function.name not in WAITING)
    for call, name, large in calls:
        yield from call.text(name, large)
    for call, name, large in calls:
        yield from call.slow_text(name, large)
        if family.name == "openmpi" and PERSISTENT.fullmatch(name):
            for prefix in ("", "P"):
                yield f'__asm__(".weak {prefix}MPIX_{name}\\n\\t.type {prefix}MPIX_{name}, %function\\n\\t.set {prefix}MPIX_{name}, PMPI_{name}");\n'


def objects_text(family):
    """By the assembler, which keeps the order."""
    standard = standard_values()
    null = next(one for one in family.handles if one[1] == "DATATYPE_NULL")
    beyond = [(*null[:2], symbol, null[3]) for symbol in BEYOND_MPI]
    first = sorted(family.handles, key=lambda one: FIRST_OBJECTS.index(one[1]) if one[1] in FIRST_OBJECTS else len(FIRST_OBJECTS))
    yield "__asm__(\n    \".pushsection .data\\n.balign 64\\n\"\n"
    for _, name, symbol, _ in (*first, *beyond):
        number = int(re.search(r"0x[0-9a-f]+", standard[name])[0], 16)
        yield (f"    \".globl {symbol}\\n.type {symbol}, %object\\n.size {symbol}, 16\\n"
               f"{symbol}: .8byte {number ^ MAGIC}, 0\\n\"\n")
    yield "    \".popsection\");\n"


# ---- The header -------------------------------------------------------------------------------------------------------------------


def header_text(family):
    standard = (SOURCE.parent / "include/mpi/mpi.h").read_text(encoding="utf-8")
    types = (SOURCE / "translate" / f"{family.name}_types.h").read_text(encoding="utf-8").replace("F_MPI_", "MPI_").replace("F_", "")
    yield "/* The C interface of MPI with the values of another implementation's binary interface: for tests. */\n"
    yield "#ifndef MPI_H\n#define MPI_H\n#include <stddef.h>\n#include <stdint.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
    yield "typedef intptr_t MPI_Aint;\ntypedef int64_t MPI_Offset;\ntypedef int64_t MPI_Count;\n"
    yield types.replace("#pragma once\n", "")
    if family.name == "openmpi":
        yield "struct ompi_object {\n  void* words[64];\n};\n"
    handles = {name for _, name, _, _ in family.handles}
    skipped = {"LONG_LONG_INT", "C_COMPLEX"}
    for found in re.finditer(r"#define MPI_(\w+) (.+)", standard):
        name, text = found[1], found[2]
        if name in family.constants:
            if name in ("UNWEIGHTED", "WEIGHTS_EMPTY"):
                yield f"#define MPI_{name} ((int*){family.constants[name]})\n"
            elif name in ("STATUS_IGNORE", "STATUSES_IGNORE"):
                yield f"#define MPI_{name} ((MPI_Status*){family.constants[name]})\n"
            elif name in ("IN_PLACE", "BUFFER_AUTOMATIC"):
                yield f"#define MPI_{name} ((void*){family.constants[name]})\n"
            else:
                yield f"#define MPI_{name} ({family.constants[name]})\n"
        elif re.fullmatch(r"T_\w+_NULL", name):
            yield f"#define MPI_{name} {text}\n"
        elif name in handles or name.startswith(("T_", "F_", "ABI_")):
            continue
        elif name == "CONVERSION_FN_NULL_C" and family.name not in LARGE:
            continue
        elif name in skipped or name in (
                "CONVERSION_FN_NULL", "CONVERSION_FN_NULL_C", "SUCCESS", "UNDEFINED", "BOTTOM", "ARGV_NULL", "ARGVS_NULL", "ERRCODES_IGNORE"):
            yield f"#define MPI_{name} {text}\n"
    for kind, name, value, _ in family.handles:
        handle = HANDLES[kind]
        if family.name == "openmpi":
            yield f"extern struct ompi_object {value};\n#define MPI_{name} (({handle})&{value})\n"
        else:
            yield f"#define MPI_{name} (({handle}){value})\n"
    for name in ("enum", "cvar_handle", "pvar_handle", "pvar_session"):
        yield f"typedef struct mpi_t_{name}* MPI_T_{name};\n"
    yield ("#define MPI_T_PVAR_ALL_HANDLES ((MPI_T_pvar_handle)-1)\n" if family.name == "openmpi"
           else "extern MPI_T_pvar_handle const MPI_T_PVAR_ALL_HANDLES;\n")
    yield "".join(callback_types(standard))
    if family.name != "openmpi":
        yield "int MPIR_Dup_fn(MPI_Comm, int, void*, void*, void*, int*);\nextern int* const MPI_UNWEIGHTED;\nextern int* const MPI_WEIGHTS_EMPTY;\n"
    for subject, copy, delete in (("COMM_", "Comm_copy_attr", "Comm_delete_attr"), ("TYPE_", "Type_copy_attr", "Type_delete_attr"),
                                  ("WIN_", "Win_copy_attr", "Win_delete_attr"), ("", "Copy", "Delete")):
        if family.name == "openmpi":
            for what, kind in (("DUP_FN", copy), ("NULL_COPY_FN", copy), ("NULL_DELETE_FN", delete)):
                yield f"extern MPI_{kind}_function OMPI_C_MPI_{subject}{what};\n#define MPI_{subject}{what} OMPI_C_MPI_{subject}{what}\n"
        else:
            yield (f"#define MPI_{subject}DUP_FN MPIR_Dup_fn\n#define MPI_{subject}NULL_COPY_FN ((MPI_{copy}_function*)0)\n"
                   f"#define MPI_{subject}NULL_DELETE_FN ((MPI_{delete}_function*)0)\n")
    for function, name, large in family.functions():
        parameters = ", ".join(a.declaration(large) for a in function.arguments) or "void"
        yield f"{function.result} MPI_{name}({parameters});\n{function.result} PMPI_{name}({parameters});\n"
    if family.name == "openmpi":
        for kind, handle in HANDLES.items():
            name = handle[4:] if kind != "datatype" else "Type"
            yield f"int MPI_{name}_c2f({handle} handle);\n{handle} MPI_{name}_f2c(int handle);\n"
    else:
        for kind, handle in HANDLES.items():
            name = handle[4:] if kind != "datatype" else "Type"
            if kind == "file":
                yield f"int MPI_File_c2f(MPI_File handle);\nMPI_File MPI_File_f2c(int handle);\n"
            elif kind != "session":
                yield f"#define MPI_{name}_c2f(handle) (handle)\n#define MPI_{name}_f2c(handle) (handle)\n"
    yield "int MPI_Status_c2f(const MPI_Status* c_status, int* f_status);\nint MPI_Status_f2c(const int* f_status, MPI_Status* c_status);\n"
    yield "#ifdef __cplusplus\n}\n#endif\n#endif\n"


def callback_types(standard):
    for found in re.finditer(r"typedef \w+ ?\(MPI_\w+(?:function|function_c)\)\([^;]*\);|typedef MPI_\w+_errhandler_function MPI_\w+;", standard):
        if "MPI_T_" not in found[0]:
            yield re.sub(r"\s+", " ", found[0]) + "\n"


# ---- C++ --------------------------------------------------------------------------------------------------------------------------

CXX_CLASSES = {"comm": "Intracomm", "datatype": "Datatype", "op": "Op", "group": "Group", "request": "Request", "errhandler": "Errhandler",
               "info": "Info", "win": "Win", "file": "File"}
# Names that are not C's.
CXX_NAMES = {"BOOL": "CXX_BOOL", "COMPLEX": "CXX_FLOAT_COMPLEX", "DOUBLE_COMPLEX": "CXX_DOUBLE_COMPLEX",
             "LONG_DOUBLE_COMPLEX": "CXX_LONG_DOUBLE_COMPLEX", "F_COMPLEX": "COMPLEX", "F_DOUBLE_COMPLEX": "DOUBLE_COMPLEX",
             "LONG_LONG_INT": "LONG_LONG", "TWOINT": "2INT", "TWOREAL": "2REAL", "TWODOUBLE_PRECISION": "2DOUBLE_PRECISION",
             "TWOINTEGER": "2INTEGER", "ERRORS_THROW_EXCEPTIONS": "ERRORS_ARE_FATAL"}


def mangled(kind, name):
    return f"_Z{kind}N3MPI{len(name)}{name}E"


def cxx_text(family):
    """An object of C++ is the address of its virtual functions, which the program has, and its handle."""
    handles = {name: (kind, symbol) for kind, name, symbol, _ in family.handles if kind in CXX_CLASSES}
    objects = {name: name for name in handles if re.fullmatch(r"[A-Z]\w*", name)} | CXX_NAMES
    classes = {*CXX_CLASSES.values(), "Comm_Null"}
    yield "struct Object {\n  void** functions;\n  void* handle;\n};\n"
    for name in sorted(classes):
        yield f"extern void* functions_of_{name}[] __asm__(\"{mangled('TV', name)}\") __attribute__((weak));\n"
    for symbol in sorted({symbol for _, symbol in handles.values()}):
        yield f"extern char {symbol}[];\n"
    for name, of in objects.items():
        kind, symbol = handles[of]
        label = mangled("", name)
        yield (f"struct Object object_{name} __asm__(\"{label}\") __attribute__((visibility(\"default\"))) =\n"
               f"    {{&functions_of_{'Comm_Null' if name == 'COMM_NULL' else CXX_CLASSES[kind]}[2], {symbol}}};\n")


# ---- Fortran ----------------------------------------------------------------------------------------------------------------------


def fortran_functions(family):
    names = {name for _, name, _ in family.functions()}
    return [function for function in make_fortran.functions_of(table()) if function.name in names]


def fortran_text(family):
    return make_fortran.shims_text(fortran_functions(family), has_descriptors=family.name == "mpich")


def fortran_handles_text(family):
    """The predefined handles of each kind by number. Other numbers are a matter of the C functions."""
    for kind, handle in HANDLES.items():
        word = make_fortran.handle_kind(kind)
        own = {int(number): name for _, name, _, number in family.of_kind(kind) if number != "-"}
        size = max(own) + 1
        yield f"static {handle} const sorrel_{kind}_handles[{size}] = {{\n"
        for number, name in sorted(own.items()):
            yield f"    [{number}] = MPI_{name},\n"
        yield (f"}};\nstatic inline {handle} sorrel_from_{word}(int number) {{\n"
               f"  if ((unsigned)number < {size} && sorrel_{kind}_handles[number] != 0) return sorrel_{kind}_handles[number];\n"
               f"  return MPI_{word}_f2c(number);\n}}\n"
               f"static inline int sorrel_to_{word}({handle} handle) {{ return MPI_{word}_c2f(handle); }}\n")


# Functions that only the Fortran interfaces of other MPIs have, or that have two names: name -> name of the procedure.
FORTRAN_ONLY = {name: name for name in ("address", "type_extent", "type_lb", "type_ub", "type_hvector", "type_hindexed", "type_struct",
                                        "register_datarep", "f_sync_reg")}
FORTRAN_ONLY |= {f"errhandler_{what}": f"comm_{what}_errhandler" for what in ("create", "get", "set")}
DATAREP = ["conversion_fn_null"]
# Functions of the standard 4.1 and 5.0: other names in MPICH.
MPICH_ONLY = {f"delete_error_{what}": f"remove_error_{what}" for what in ("class", "code", "string")}
# MPI_SIZEOF: kinds of Open MPI with their sizes, and those of MPICH's two modules.
OPENMPI_SIZES = {"character": 1, "logical": 4, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "real32": 4, "real64": 8, "real128": 16,
                 "complex32": 8, "complex64": 16, "complex128": 32}
MPICH_SIZES = {"ch": 1, "chv": 1, "l": 4, "lv": 4, "i": 4, "iv": 4, "i1": 1, "i1v": 1, "i2": 2, "i2v": 2, "i8": 8, "i8v": 8, "r": 4, "rv": 4,
               "d": 8, "dv": 8, "cx": 8, "cxv": 8}
# Types of mpi_f08 in Open MPI before 4.1, whose constants are variables: names that do not follow from those of C.
OPENMPI_F08_NAMES = {f"{sign}INT{bits}_T": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
# Further names of types.
OPENMPI_F08_ALIASES = {"c_complex": "C_FLOAT_COMPLEX", "cxx_complex": "CXX_FLOAT_COMPLEX", "long_long_int": "LONG_LONG"}


def spellings(name, target):
    """A name as Fortran compilers write it, and its profiled form."""
    for prefix in ("", "p"):
        lower = f"{prefix}mpi_{name}"
        for spelling in (lower, lower + "_", lower + "__", lower.upper()):
            if spelling != target:
                yield f"{spelling} = {target};\n"


def fortran_names_text(family):
    yield "/* Names of procedures, and what they are names of. */\n"
    functions = fortran_functions(family)
    defined = {f"mpi_{function.name.lower()}_" for function in functions} | {"mpi_f_sync_reg_"}
    plain = {function.name.lower(): function.name.lower() for function in functions if not function.is_f08_only}
    overloads = {name: function.name.lower() for function in functions for name in make_fortran.cptr_names(function)}
    defined |= {f"{prefix}mpi_{name}_" for name in overloads for prefix in ("", "p")}
    for name, target in (plain | overloads | FORTRAN_ONLY).items():
        yield from (line for line in spellings(name, f"pmpi_{target}_") if line.split()[0] not in defined)
    provided = [name[4:].lower() for name in make_fortran.PROVIDED] + DATAREP
    for name in provided:
        yield from (f"{spelling} = mpi_{name}_;\n" for spelling in (f"mpi_{name}", f"mpi_{name}__", f"MPI_{name.upper()}"))
    for name in provided:
        if name.startswith(("comm_", "type_", "win_", "conversion_")):
            yield f"__mpi_f08_callbacks_MOD_mpi_{name} = mpi_{name}_;\n"
    handles = sorted(handle[4:].lower() for handle in HANDLES.values())
    if family.name == "openmpi":
        for handle in handles:
            yield f"__mpi_f08_types_MOD_ompi_{handle}_op_eq = sorrel_are_equal;\n__mpi_f08_types_MOD_ompi_{handle}_op_ne = sorrel_are_different;\n"
        for kind, size in OPENMPI_SIZES.items():
            for shape in ["scalar", *(f"r{rank}" for rank in range(1, 16))]:
                for prefix in ("", "p"):
                    yield f"{prefix}mpi_sizeof_{kind}_{shape}_ = sorrel_size_{size};\n"
        for name in ("f_sync_reg", "register_datarep"):
            yield f"mpi_{name}_f08_ = pmpi_{name}_;\npmpi_{name}_f08_ = pmpi_{name}_;\n"
        return
    for function in functions:
        if function.base in make_fortran.ONLY_MPI:
            continue
        symbol = function.symbol.lower()
        other = symbol.replace("_c_f08", "_f08") + "_large" if function.is_f08_only else symbol
        yield f"pmpir_{other}_ = pmpi_{symbol}_;\n"
        if other != symbol:
            yield f"mpi_{other}_ = pmpi_{symbol}_;\n"
    for name, target in MPICH_ONLY.items():
        yield f"mpi_{name}_f08_ = pmpi_{target}_;\npmpir_{name}_f08_ = pmpi_{target}_;\n"
    for name, target in (("f_sync_reg_f08ts", "f_sync_reg"), ("register_datarep_f08", "register_datarep")):
        yield f"mpi_{name}_ = pmpi_{target}_;\npmpir_{name}_ = pmpi_{target}_;\n"
    for handle in handles:
        for suffix, target in (("eq", "equal"), ("neq", "different")):
            for name in (f"{handle}_{suffix}", f"{handle}_f08_{suffix}_f", f"{handle}_f_{suffix}_f08"):
                yield f"__mpi_f08_types_MOD_mpi_{name} = sorrel_are_{target};\n"
            yield f"__mpi_constants_MOD_{handle}{suffix} = sorrel_are_{target};\n"
    for kind, size in OPENMPI_SIZES.items():
        name = kind if kind in ("character", "logical") else "x" + kind
        yield f"__mpi_f08_types_MOD_mpi_sizeof_{name} = sorrel_size_{size};\n"
    for kind, size in MPICH_SIZES.items():
        yield f"__mpi_sizeofs_MOD_mpi_sizeof_{kind} = sorrel_size_{size};\n"
    for name in ("status_f2f08", "status_f082f"):
        yield f"__mpi_f08_types_MOD_mpi_{name} = pmpi_{name}_;\n"


def fortran_constants_text(family):
    """C: the variables that hold the constants of mpi_f08."""
    for _, name, _, number in family.handles:
        if number != "-":
            aliases = [alias for alias, of in OPENMPI_F08_ALIASES.items() if of == name]
            for own in (OPENMPI_F08_NAMES.get(name, name.lower()), *aliases):
                yield f"const int ompi_f08_mpi_{own} = {number};\n"


# MPI_STATUS_SIZE, MPI_SOURCE, MPI_TAG, MPI_ERROR.
STATUS_INTEGERS = {"openmpi": (6, 1, 2, 3), "mpich": (5, 3, 4, 5)}
STATUS_NAMES = ("STATUS_SIZE", "SOURCE", "TAG", "ERROR")
COMMONS = {
    "openmpi": {f"mpi_fortran_{name[4:].lower()}": [name] for name, _, _ in make_fortran.SENTINELS if name != "MPI_BUFFER_AUTOMATIC"},
    "mpich": {"mpipriv1": ["MPI_BOTTOM", "MPI_IN_PLACE", "MPI_STATUS_IGNORE"], "mpipriv2": ["MPI_STATUSES_IGNORE", "MPI_ERRCODES_IGNORE"],
              "mpiprivc": ["MPI_ARGVS_NULL", "MPI_ARGV_NULL"], "mpifcmb5": ["MPI_UNWEIGHTED"], "mpifcmb9": ["MPI_WEIGHTS_EMPTY"],
              "mpifcmba": ["MPI_BUFFER_AUTOMATIC"]},
}


def fortran_value(family, name):
    """The value of a constant in Fortran; None: the family has none."""
    if name in STATUS_NAMES:
        return STATUS_INTEGERS[family.name][STATUS_NAMES.index(name)]
    if name in family.constants:
        value = family.constants[name]
        if name.startswith("MAX_"):
            return value - 1
        is_key = name in CONSTANTS["keyval"] and name != "KEYVAL_INVALID"
        return value + 1 if is_key and family.name == "mpich" else value
    numbers = [int(number, 0) for _, other, _, number in family.handles if other == name and number != "-"]
    return (numbers[0] + 2**31) % 2**32 - 2**31 if numbers else None


def fortran_header_text(family):
    standard = (SOURCE.parent / "include/mpi/mpi.h").read_text(encoding="utf-8")
    equal = {"SUCCESS", "UNDEFINED", "ADDRESS_KIND", "COUNT_KIND", "OFFSET_KIND", "INTEGER_KIND"}
    yield "! mpif.h with the values of another implementation's interface: for tests.\n"
    sentinels = {name for name, _, _ in make_fortran.SENTINELS}
    for name, kind, value in make_fortran.resolved_constants(standard):
        number = value if name[4:] in equal else fortran_value(family, name[4:])
        if number is not None and name not in sentinels:
            yield f"      {'integer(kind=8)' if kind == 'offset' else 'integer'} {name}\n      parameter ({name}={number})\n"
    yield make_fortran.logical("MPI_SUBARRAYS_SUPPORTED", ".false.")
    yield make_fortran.logical("MPI_ASYNC_PROTECTS_NONBLOCKING", ".false.")
    size = STATUS_INTEGERS[family.name][0]
    declarations = {name: (kind, dimensions) for name, kind, dimensions in make_fortran.SENTINELS}
    for common, names in COMMONS[family.name].items():
        for name in names:
            kind, dimensions = declarations[name]
            if kind == "status":
                kind, dimensions = "integer", f"({size},1)" if dimensions else f"({size})"
            yield f"      {kind.replace('len=4', 'len=1')} {name}{dimensions}\n"
        yield f"      common /{common}/ {', '.join(names)}\n"
    for name in make_fortran.PROVIDED:
        yield f"      external {name}\n"
    for function in fortran_functions(family):
        if function.is_function:
            kind = "real(kind=8)" if function.table.result == "double" else "integer(kind=8)"
            for prefix in ("MPI_", "PMPI_"):
                yield f"      {kind} {prefix}{function.name}\n      external {prefix}{function.name}\n"


def main(arguments):
    general = {"table": table_text, "runtime": runtime_text, "names": names_text, "traced": traced_text, "checked": checked_text}
    texts = {**general, "values": values_text, "functions": functions_text, "header": header_text,
             "fortran": fortran_text, "cxx": cxx_text, "fortran_handles": fortran_handles_text, "fortran_names": fortran_names_text,
             "fortran_constants": fortran_constants_text, "fortran_header": fortran_header_text}
    if len(arguments) < 2 or arguments[0] not in texts or len(arguments) != (2 if arguments[0] in general else 3):
        sys.exit(__doc__)
    if len(arguments) == 3 and arguments[1] not in FAMILIES:
        sys.exit(f"make_translation.py: '{arguments[1]}' is not one of {', '.join(FAMILIES)}")
    path = Path(arguments[-1])
    try:
        new = "".join(texts[arguments[0]](*(Family(name) for name in arguments[1:-1])))
    except make_bindings.TableError as error:
        sys.exit(f"make_translation.py: {error}")
    if not path.exists() or path.read_text(encoding="utf-8") != new:
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
