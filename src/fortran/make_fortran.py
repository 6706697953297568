#!/usr/bin/env python3
"""Writes the Fortran bindings from the table of MPI's functions (src/abi/functions.txt) and the constants of mpi.h.

make_fortran.py [--real10] KIND OUT, where KIND is
  shims-N      C: the bindings of chapter N of the standard
  dynamic      C: those of functions that start ranks or let groups meet
  mpif         mpif.h
  types        the module sorrel_mpi_types: what the modules mpi and mpi_f08 share
  mpi          the module mpi
  mpi_f08      the module mpi_f08
--real10: the compiler has REAL(10) and COMPLEX(10), as gfortran for x86 has.
"""
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent
sys.path.insert(0, str(SOURCE.parent / "abi"))
import make_bindings  # noqa: E402
from make_bindings import HANDLES, INTS, SIZED, TOPOLOGIES  # noqa: E402

# Not a part of Fortran's MPI: the tool interface, and handles as integers, which Fortran's handles are.
C_CHAPTERS = {"15", "19"}
C_ONLY = {"Abi_get_fortran_booleans", "Abi_set_fortran_booleans", "Register_datarep", "Register_datarep_c"}
# Written in by_hand.c, callbacks.c and attributes.c.
BY_HAND = {"Init", "Init_thread", "Pcontrol", "Wtime", "Wtick", "Aint_add", "Aint_diff", "Info_create_env", "Info_get",
           "Info_get_string", "Session_get_nth_pset", "Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer",
           "Comm_spawn", "Comm_spawn_multiple", "Grequest_start"}
# Fortran programs do not hand over their command line.
COMMAND_LINE = {"Init", "Init_thread", "Info_create_env"}
# Not in mpi_f08, and with attributes of the kind INTEGER.
ONLY_MPI = {"Attr_delete", "Attr_get", "Attr_put", "Keyval_create", "Keyval_free"}
# The buffer stays in use after the call, though no request says so; or the call is about its address.
RETAINING = {"Buffer_attach", "Comm_attach_buffer", "Session_attach_buffer", "Get_address", "Win_create", "Win_attach", "Win_detach"}
# MPI_BUFFER_DETACH and its like get any variable; others a TYPE(C_PTR), or in mpi also an integer.
DETACHING = {"Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer"}
# Extents of handle arrays that the table does not say: a C expression.
PEERS = {"Alltoallw", "Ialltoallw", "Alltoallw_init"}
NEIGHBORS = {"Neighbor_alltoallw", "Ineighbor_alltoallw", "Neighbor_alltoallw_init"}
# Arguments whose Fortran names are not those of the table.
RENAMED = {"indx": "index"}
KINDS = {"datatype": "Type", "type": "Type", "hints": "Info", **dict.fromkeys(TOPOLOGIES, "Comm")}
KNOWN = {*INTS, *SIZED, "aint", "offset", "large", "status", "string", "pointer", "attribute", "extra_state", "buffer", "weights"}


def handle_kind(kind):
    """Comm for comm: the word in MPI_Comm_fromint."""
    return KINDS.get(kind, kind.capitalize())


def handle_type(kind):
    return make_bindings.SCALARS[kind]


def is_handle(argument):
    return argument.kind in HANDLES or argument.kind in KINDS


class Function:
    """A function of the table in one of its forms, as Fortran has it."""

    def __init__(self, function, name, large):
        self.table = function
        self.name = name  # of the C function, without MPI_
        self.large = large
        self.base = function.name
        without = {"argc", "argv"} if self.base in COMMAND_LINE else set()
        self.arguments = [plain(a) for a in function.arguments if a.name not in without and a.kind != "{...}"]
        self.is_function = function.result in ("double", "MPI_Aint")
        self.is_by_hand = self.base in BY_HAND or any(
            a.kind.startswith("function ") or a.kind == "attribute" for a in self.arguments)

    @property
    def has_error(self):
        return not self.is_function and self.base != "Pcontrol"

    @property
    def is_f08_only(self):
        return self.name.endswith("_c")

    def buffers(self):
        return [a for a in self.arguments if a.kind == "buffer"]

    @property
    def symbol(self):
        """The specific name in mpi_f08, without MPI_: that of a choice buffer says that the buffer has a descriptor."""
        return f"{self.name}_f08{'ts' if self.buffers() else ''}"

    def keeps_buffers(self):
        """Whether the buffers are in use after the call, so that a copy of an array section would not do."""
        returns_request = any(a.kind == "request" and a.direction == "out" for a in self.arguments)
        return bool(self.buffers()) and (returns_request or self.table.chapter == "12" or self.base in RETAINING or
                                         self.base.endswith(("_begin", "_end")))

    def partners(self, buffer):
        """(count, datatype) of a buffer; None if it has none of its own."""
        rest = self.arguments[self.arguments.index(buffer) + 1:]
        own = []
        for argument in rest:
            if argument.kind not in ("count", "displacement", "large", "datatype", "type"):
                break
            own.append(argument)
        count = next((a for a in own if a.kind in ("count", "large")), None)
        datatype = next((a for a in own if a.kind in ("datatype", "type") and not a.is_array), None)
        # The two buffers of a reduction share a count: only the second is followed by it.
        before = self.arguments[:self.arguments.index(buffer)]
        is_shared = bool(before) and before[-1].kind == "buffer"
        return (count, datatype) if count is not None and datatype is not None and not is_shared else None


def plain(argument):
    """An argument of C text as one of a kind."""
    if not argument.is_verbatim():
        return argument
    kinds = {"const int level": "int", "const int *weights": "weights", "const int *sourceweights": "weights",
             "const int *destweights": "weights", "int *sourceweights": "weights", "int *destweights": "weights", "const char datarep[]": "string", "MPI_Group remote_group": "group", "char* argv[]": "string",
             "char* array_of_commands[]": "string", "char** array_of_argv[]": "string"}
    text = argument.kind[1:-1]
    if text not in kinds:
        raise make_bindings.TableError(f"'{text}': make_fortran.py does not know what it is in Fortran")
    suffix = "[][]" if text.startswith("char**") else "[]" if text.endswith("argv[]") or "commands" in text else ""
    return make_bindings.Argument("in", kinds[text], argument.name, suffix)


def functions_of(table):
    for function in table:
        if function.chapter in C_CHAPTERS or function.name in C_ONLY:
            continue
        for name, large in function.forms():
            yield Function(function, name, large)


# ---- C -------------------------------------------------------------------------------------------------------------


def parameter(argument, function, descriptors):
    """The C parameter of a Fortran argument: a reference."""
    name = argument.name
    if not is_handle(argument) and argument.kind not in KNOWN:
        raise make_bindings.TableError(f"MPI_{function.base}: make_fortran.py does not know the kind '{argument.kind}'")
    if argument.kind == "buffer":
        return f"const struct sorrel_descriptor* {name}" if descriptors else f"void* {name}"
    if argument.kind in SIZED:
        return f"{SIZED[argument.kind][function.large]}* {name}"
    kinds = {"aint": "MPI_Aint", "offset": "MPI_Offset", "large": "MPI_Count", "status": "MPI_Status", "string": "char",
             "pointer": "void", "attribute": "int" if function.base in ONLY_MPI else "MPI_Aint"}
    return f"{kinds.get(argument.kind, 'int')}* {name}"


class Shim:
    """The text of one C function."""

    def __init__(self, function, descriptors):
        self.function = function
        self.before, self.passed, self.after, self.on_success, self.last = [], [], [], [], []
        self.sections = {}  # by the names of counts and datatypes: the section that replaces them
        if descriptors and function.keeps_buffers():
            self.open_sections()
        elif descriptors:
            self.copy_sections()
        for argument in function.arguments:
            self.convert(argument, descriptors)

    def open_sections(self):
        for buffer in self.function.buffers():
            name = buffer.name
            partners = self.function.partners(buffer)
            label = f'"MPI_{self.function.name}"'
            if partners is None:
                if self.function.base == "Get_address":
                    self.before.append(f"void* {name}_c = sorrel_address({name}->base);")
                    self.before.append(f"if (failed == MPI_SUCCESS) failed = sorrel_lasts({name}, {label});")
                    continue
                self.before.append(f"void* {name}_c = NULL;")
                self.before.append(f"if (failed == MPI_SUCCESS) failed = sorrel_whole(&{name}_c, {name}, {label});")
                continue
            count, datatype = partners
            amount = "sorrel_any_count" if count.is_array else f"*{count.name}"
            self.before.append(f"struct sorrel_section {name}_s = {{.made = MPI_DATATYPE_NULL}};")
            self.before.append(f"if (failed == MPI_SUCCESS)\n    failed = sorrel_open(&{name}_s, {name}, {amount}, "
                               f"sorrel_from_Type(*{datatype.name}), {label});")
            self.last.append(f"sorrel_close(&{name}_s);")
            self.sections[datatype.name] = f"{name}_s.datatype"
            if not count.is_array:
                kind = "MPI_Count" if self.function.large or count.kind == "large" else "int"
                self.sections[count.name] = f"({kind}){name}_s.count"
            self.sections[name] = f"{name}_s.address"

    def copy_sections(self):
        """A blocking call: a noncontiguous section is copied, and back if the call may have written to it."""
        for buffer in self.function.buffers():
            name = buffer.name
            self.before.append(f"void* const {name}_c = sorrel_contiguous({name});")
            self.last.append(f"sorrel_end_contiguous({name}, {name}_c, {int(buffer.direction != 'in')});")

    def convert(self, argument, descriptors):
        name, kind = argument.name, argument.kind
        if name in self.sections:
            self.passed.append(self.sections[name])
        elif kind == "buffer":
            self.passed.append(f"{name}_c" if descriptors else f"sorrel_address({name})")
        elif is_handle(argument):
            self.convert_handle(argument)
        elif kind == "string":
            self.convert_string(argument)
        elif kind == "status":
            self.passed.append(f"sorrel_status({name})" if argument.direction == "out" else name)
        elif kind == "weights" or name.endswith("destweights") or name.endswith("sourceweights"):
            self.passed.append(f"sorrel_weights({name})")
        elif argument.suffix.endswith("][3]"):
            self.passed.append(f"(int(*)[3]){name}")
        elif argument.is_array or argument.direction != "in" or kind == "pointer":
            self.passed.append(name)
            self.finish_output(argument)
        else:
            self.passed.append(f"*{name}")

    def finish_output(self, argument):
        if argument.direction == "in":
            return
        name = argument.name
        if argument.kind == "logical":
            amount = f"*{argument.length}" if argument.is_array else "1"
            self.on_success.append(f"sorrel_make_logical({name}, {amount});")
        elif argument.kind == "index" and argument.is_array:
            self.before.append("*outcount = MPI_UNDEFINED;")
            self.after.append(f"if (*outcount != MPI_UNDEFINED) sorrel_count_from_one({name}, *outcount);")
        elif argument.kind == "index":
            self.before.append(f"*{name} = MPI_UNDEFINED;")
            self.after.append(f"sorrel_count_from_one({name}, 1);")

    def convert_handle(self, argument):
        name, word, handle = argument.name, handle_kind(argument.kind), handle_type(argument.kind)
        if argument.is_array:
            self.convert_handles(argument, word, handle)
        elif argument.direction == "in":
            self.passed.append(f"sorrel_from_{word}(*{name})")
        else:
            initial = f"sorrel_from_{word}(*{name})" if argument.direction == "inout" else f"({handle})0"
            self.before.append(f"{handle} {name}_c = {initial};")
            self.passed.append(f"&{name}_c")
            written = self.after if argument.direction == "inout" else self.on_success
            written.append(f"*{name} = sorrel_to_{word}({name}_c);")

    def convert_handles(self, argument, word, handle):
        name = argument.name
        self.before.append(f"SORREL_ARRAY({handle}, {name}, {self.extent(argument)});")
        if argument.direction != "out":
            self.before.append(f"sorrel_read_{word}({name}, {name}_c, {name}_n);")
        self.passed.append(f"{name}_c")
        if argument.direction != "in":
            self.after.append(f"sorrel_write_{word}({name}, {name}_c, {name}_n);")
        self.last.append(f"SORREL_END_ARRAY({name});")

    def extent(self, argument):
        base = self.function.base
        if argument.length:
            return f"*{argument.length}"
        if base in PEERS:
            # Types that MPI_IN_PLACE makes insignificant may not be there.
            in_place = " == MPI_IN_PLACE ? 0 : " if argument.name == "sendtypes" else None
            buffer = "sendbuf_c" if any("sendbuf_c" in line for line in self.before) else "sorrel_address(sendbuf)"
            peers = "sorrel_peers(sorrel_from_Comm(*comm))"
            return f"{buffer}{in_place}{peers}" if in_place else peers
        if base in NEIGHBORS:
            if not any("sorrel_neighbors" in line for line in self.before):
                self.before.insert(0, "MPI_Count sources = 0, destinations = 0;\n"
                                      "  sorrel_neighbors(sorrel_from_Comm(*comm), &sources, &destinations);")
            return "destinations" if argument.name == "sendtypes" else "sources"
        raise make_bindings.TableError(f"MPI_{base}: the table does not say how long the array {argument.name} is")

    def convert_string(self, argument):
        name = argument.name
        self.passed.append(f"{name}_c")
        if argument.direction == "in":
            conversion = "sorrel_info_string" if self.function.base.startswith("Info_") else "sorrel_string"
            self.before.append(f"char* const {name}_c = {conversion}({name}, {name}_length);")
            self.last.append(f"free({name}_c);")
        else:
            if not argument.length:
                raise make_bindings.TableError(f"MPI_{self.function.base}: the table does not say how long the string {name} is")
            self.before.append(f"char {name}_c[{argument.length}];\n  {name}_c[0] = 0;")
            self.on_success.append(f"sorrel_give_string({name}_c, {name}, {name}_length);")

    def text(self, symbol, descriptors):
        function = self.function
        parameters = [parameter(a, function, descriptors) for a in function.arguments] + ["int* ierror"]
        parameters += [f"size_t {a.name}_length" for a in function.arguments if a.kind == "string"]
        call = f"MPI_{function.name}({', '.join(self.passed)});"
        yield f"SORREL_BINDING void {symbol}({', '.join(parameters)}) {{\n  SORREL_NOTE_CALLER();\n  int failed = MPI_SUCCESS;\n"
        for line in self.before:
            yield f"  {line}\n"
        may_have_failed = descriptors and function.keeps_buffers()
        yield f"  if (failed == MPI_SUCCESS) failed = {call}\n" if may_have_failed else f"  failed = {call}\n"
        for line in self.after:
            yield f"  {line}\n"
        if self.on_success:
            yield "  if (failed == MPI_SUCCESS) {\n" + "".join(f"    {line}\n" for line in self.on_success) + "  }\n"
        for line in self.last:
            yield f"  {line}\n"
        yield "  sorrel_return(ierror, failed);\n}\n"


def cptr_names(function):
    """The name of the overload of module mpi that gets a TYPE(C_PTR)."""
    has = any(a.kind == "pointer" for a in function.arguments) and function.base not in DETACHING
    return [function.name.lower() + "_cptr"] if has and not function.large else []


def shims_text(functions, has_descriptors=True):
    """The bindings. Without descriptors, mpi_f08 passes the address of a buffer, as the other interfaces do."""
    yield '#include "fortran/shim.h"\n\n'
    for function in functions:
        if function.is_by_hand:
            continue
        name = function.name.lower()
        descriptors = has_descriptors and bool(function.buffers())
        if not function.is_f08_only:
            yield from Shim(function, False).text(f"pmpi_{name}_", False)
            yield f"SORREL_WEAK_ALIAS(mpi_{name}_, pmpi_{name}_);\n"
            for cptr in cptr_names(function):
                yield f"SORREL_WEAK_ALIAS(mpi_{cptr}_, pmpi_{name}_);\nSORREL_ALIAS(pmpi_{cptr}_, pmpi_{name}_);\n"
            if not descriptors and function.base not in ONLY_MPI:
                yield f"SORREL_WEAK_ALIAS(mpi_{name}_f08_, pmpi_{name}_);\nSORREL_ALIAS(pmpi_{name}_f08_, pmpi_{name}_);\n"
        if function.is_f08_only or descriptors:
            symbol = function.symbol.lower()
            yield from Shim(function, descriptors).text(f"pmpi_{symbol}_", descriptors)
            yield f"SORREL_WEAK_ALIAS(mpi_{symbol}_, pmpi_{symbol}_);\n"
        yield "\n"


# ---- constants -----------------------------------------------------------------------------------------------------


def constants(header):
    """(name, kind, value): kind is "" for an integer, "offset", or the kind of a handle."""
    for name, value in re.findall(r"#define (MPI_\w+) (.+)", header):
        if name.startswith(("MPI_F_", "MPI_T_")):
            continue
        if found := re.fullmatch(r"\(\(MPI_(\w+)\)(0x[0-9a-f]+)\)", value):
            yield name, found[1].lower(), int(found[2], 16)
        elif value.startswith("((MPI_Offset)"):
            yield name, "offset", int(value[13:-1].replace(" ", ""))
        elif found := re.fullmatch(r"\(?(-?\d+)\)?", value):
            number = int(found[1])
            # A Fortran string has no byte 0 at its end.
            yield name, "", number - 1 if name.startswith("MPI_MAX_") else number
        elif re.fullmatch(r"MPI_[A-Z_]+", value):
            yield name, "same", value


def resolved_constants(header):
    values = {}
    for name, kind, value in constants(header):
        values[name] = values[value] if kind == "same" else (kind, value)
    values |= {"MPI_STATUS_SIZE": ("", 8), "MPI_SOURCE": ("", 1), "MPI_TAG": ("", 2), "MPI_ERROR": ("", 3),
               "MPI_ADDRESS_KIND": ("", 8), "MPI_COUNT_KIND": ("", 8), "MPI_OFFSET_KIND": ("", 8), "MPI_INTEGER_KIND": ("", 4)}
    return [(name, kind, value) for name, (kind, value) in values.items()]


# The members of struct sorrel_sentinels in shim.h: name, and type and dimensions in mpi and mpif.h.
SENTINELS = [("MPI_BOTTOM", "integer", ""), ("MPI_IN_PLACE", "integer", ""), ("MPI_BUFFER_AUTOMATIC", "integer", ""),
             ("MPI_UNWEIGHTED", "integer", "(1)"), ("MPI_WEIGHTS_EMPTY", "integer", "(1)"), ("MPI_ERRCODES_IGNORE", "integer", "(1)"),
             ("MPI_ARGV_NULL", "character(len=4)", "(1)"), ("MPI_ARGVS_NULL", "character(len=4)", "(1,1)"),
             ("MPI_STATUS_IGNORE", "status", ""), ("MPI_STATUSES_IGNORE", "status", "(1)")]
PROVIDED = [f"MPI_{prefix}{name}_FN" for prefix in ("", "COMM_", "TYPE_", "WIN_") for name in ("NULL_COPY", "DUP", "NULL_DELETE")]


def logical(name, value):
    return f"      logical {name}\n      parameter ({name}={value})\n"


def mpif_text(functions, header):
    yield "! mpif.h - MPI 5.0 for Fortran, in fixed and in free form. Written by src/fortran/make_fortran.py.\n"
    for name, kind, value in resolved_constants(header):
        yield f"      {'integer(kind=8)' if kind == 'offset' else 'integer'} {name}\n      parameter ({name}={value})\n"
    yield logical("MPI_SUBARRAYS_SUPPORTED", ".false.")
    yield logical("MPI_ASYNC_PROTECTS_NONBLOCKING", ".false.")
    for name, kind, dimensions in SENTINELS:
        if kind == "status":
            kind, dimensions = "integer", "(8,1)" if dimensions else "(8)"
        yield f"      {kind} {name}{dimensions}\n      common /sorrel_sentinels/ {name}\n"
    for name in PROVIDED:
        yield f"      external {name}\n"
    for function in functions:
        if function.is_function:
            # Not DOUBLE PRECISION, which -fdefault-real-8 widens.
            kind = "real(kind=8)" if function.table.result == "double" else "integer(kind=8)"
            for prefix in ("MPI_", "PMPI_"):
                yield f"      {kind} {prefix}{function.name}\n      external {prefix}{function.name}\n"


def constants_module_text(header, f08):
    for name, kind, value in resolved_constants(header):
        if kind == "offset":
            yield f"  integer(8), parameter :: {name} = {value}_8\n"
        elif kind == "" or not f08:
            yield f"  integer, parameter :: {name} = {value}\n"
        else:
            kind = handle_type(kind)
            yield f"  type({kind}), parameter :: {name} = {kind}({value})\n"
    yield f"  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .{str(f08).lower()}.\n"
    yield f"  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .{str(f08).lower()}.\n"
    for name, kind, dimensions in SENTINELS:
        if kind == "status" and f08:
            kind = "type(MPI_Status)"
        elif kind == "status":
            kind, dimensions = "integer", "(8,1)" if dimensions else "(8)"
        yield f"  {kind} :: {name}{dimensions}\n"
    yield f"  common /sorrel_sentinels/ {', '.join(name for name, _, _ in SENTINELS)}\n"


# ---- modules -------------------------------------------------------------------------------------------------------


OPERATORS = [("sorrel_equal", "=="), ("sorrel_differ", "!=")]


def types_text():
    yield "! Derived types of mpi_f08, which the module mpi has, too. Written by src/fortran/make_fortran.py.\n"
    yield "module sorrel_mpi_types\n  implicit none\n  public\n"
    handles = sorted(HANDLES.values())
    for handle in handles:
        yield f"  type, bind(C) :: {handle}\n    integer :: MPI_VAL\n  end type\n"
    yield "  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE\n    integer :: MPI_TAG\n    integer :: MPI_ERROR\n"
    yield "    integer, private :: internal(5)\n  end type\n"
    # A procedure that is not bound to C may be elemental, and has its own name as its symbol: a rename for each type.
    for symbol, operator in OPERATORS:
        yield f"  interface operator({operator.replace('!', '/')})\n"
        for handle in handles:
            name = f"{symbol}_{handle[4:].lower()}"
            yield (f"    elemental logical function {name}(a, b)\n      import :: {handle}\n"
                   f"      type({handle}), intent(in) :: a, b\n    end function\n")
        yield "  end interface\n"
    yield "end module sorrel_mpi_types\n"


SIZEOF = [(f"{kind}({number})", f"{kind}{number}", size * factor)
          for kind, factor, sizes in (("logical", 1, (1, 2, 4, 8, 16)), ("integer", 1, (1, 2, 4, 8, 16)),
                                      ("real", 1, (4, 8, 10, 16)), ("complex", 2, (4, 8, 10, 16)))
          for number in sizes for size in [16 if number == 10 else number]]
REAL10 = {"real(10)", "complex(10)"}


def sizeof_text(prefix, has_real10):
    yield f"  interface {prefix}Sizeof\n"
    for kind, name, _ in SIZEOF + [("character(len=*)", "character", 0)]:
        if kind in REAL10 and not has_real10:
            continue
        yield (f"    subroutine {prefix}Sizeof_{name}(x, size, ierror)\n      {kind}, dimension(..), intent(in) :: x\n"
               "      integer, intent(out) :: size\n      integer, optional, intent(out) :: ierror\n    end subroutine\n")
    yield "  end interface\n"


def aliases_text():
    """C: the names of procedures that several specific names share."""
    yield '#include "fortran/shim.h"\n\n'
    for symbol, operator in OPERATORS:
        for handle in sorted(HANDLES.values()):
            yield f"int {symbol}_{handle[4:].lower()}_(const int* a, const int* b) {{\n  return *a {operator} *b;\n}}\n"
    for prefix in ("mpi_", "pmpi_"):
        for _, name, size in SIZEOF:
            yield f"void {prefix}sizeof_{name}_(const void* x, int* size, int* ierror) {{\n  (void)x;\n  *size = {size};\n  sorrel_return(ierror, MPI_SUCCESS);\n}}\n"
        yield (f"void {prefix}sizeof_character_(const void* x, int* size, int* ierror, size_t length) {{\n  (void)x;\n"
               "  *size = (int)length;\n  sorrel_return(ierror, MPI_SUCCESS);\n}\n")


def declaration(argument, function, f08, cptr):
    """The lines that declare a dummy argument."""
    name, kind = RENAMED.get(argument.name, argument.name), argument.kind
    intent = f", intent({argument.direction})"
    shape = ""
    if argument.is_array:
        shape = ", dimension(3,*)" if argument.suffix.endswith("][3]") else ", dimension(*)"
    if kind == "string":
        size = {"[]": ", dimension(*)", "[][]": f", dimension({function.arguments[0].name},*)"}.get(argument.suffix, "")
        return [f"character(len=*){size}{intent} :: {name}"]
    if kind == "buffer" or (kind == "pointer" and function.base in DETACHING and not f08):
        constant = ", intent(in)" if argument.direction == "in" else ""
        # gfortran takes for granted that a call keeps no address of an argument without TARGET, and so that no later call
        # changes the variable.
        target = ", target" if function.keeps_buffers() else ""
        if f08:
            asynchronous = ", asynchronous" if function.keeps_buffers() else ""
            return [f"type(*), dimension(..){asynchronous}{target}{constant} :: {name}"]
        return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}", f"type(*), dimension(*){target}{constant} :: {name}"]
    if kind == "pointer":
        return [f"type(c_ptr), intent(out) :: {name}" if f08 or cptr else f"integer(8), intent(out) :: {name}"]
    if kind.startswith("function "):
        return [f"procedure({kind.split()[1]}) :: {name}" if f08 else f"external :: {name}"]
    if kind == "status":
        fits = intent if argument.direction != "out" else ""  # MPI_STATUS_IGNORE is not to be written
        is_array = name.startswith("array_of")
        if f08:
            return [f"type(MPI_Status){', dimension(*)' if is_array else ''}{fits} :: {name}"]
        return [f"integer, dimension({'8,*' if is_array else '8'}){fits} :: {name}"]
    if kind in ("weights", "error") and argument.is_array or "weights" in name:
        return [f"integer, dimension(*) :: {name}"]
    if is_handle(argument) and f08:
        return [f"type({handle_type(kind)}){shape}{intent} :: {name}"]
    if kind == "logical":
        return [f"logical{shape}{intent} :: {name}"]
    wide = kind in ("aint", "offset", "large", "address") or (kind in SIZED and function.large)
    if kind in ("attribute", "extra_state"):
        wide = function.base not in ONLY_MPI
    return [f"integer{'(8)' if wide else ''}{shape}{intent} :: {name}"]


def interface(function, name, f08, cptr=False):
    """The interface body of a procedure."""
    names = [RENAMED.get(a.name, a.name) for a in function.arguments] + (["ierror"] if function.has_error else [])
    body = [line for a in function.arguments for line in declaration(a, function, f08, cptr)]
    if function.has_error:
        body.append(f"integer{', optional' if f08 else ''}, intent(out) :: ierror")
    imports = sorted({word for line in body for word in re.findall(r"(?:type|procedure)\((\w+)\)", line)})
    if function.is_function:
        kind = "double precision" if function.table.result == "double" else "integer(8)"
        head, end = f"{kind} function {name}({', '.join(names)})", "end function"
    else:
        head, end = f"subroutine {name}({', '.join(names)})", "end subroutine"
    yield f"    {head}\n"
    if imports:
        yield f"      import :: {', '.join(imports)}\n"
    for line in body:
        yield f"      {line}\n"
    yield f"    {end}\n"


def mpi_text(functions, header, has_real10):
    yield "! The module mpi of MPI 5.0. Written by src/fortran/make_fortran.py.\n"
    yield "module mpi\n  use, intrinsic :: iso_c_binding, only: c_ptr\n  use sorrel_mpi_types\n  implicit none\n  public\n  private :: c_ptr\n"
    yield from constants_module_text(header, False)
    for name in PROVIDED:
        yield f"  external :: {name}\n"
    for prefix in ("MPI_", "PMPI_"):
        yield from sizeof_text(prefix, has_real10)
        yield from status_text(prefix, False)
        for function in functions:
            if function.is_f08_only:
                continue
            name = prefix + function.name
            overloads = cptr_names(function)
            yield f"  interface {name}\n" if overloads else "  interface\n"
            yield from interface(function, name, False)
            for overload in overloads:
                yield from interface(function, prefix + overload, False, cptr=True)
            yield "  end interface\n"
    yield "end module mpi\n"


def status_text(prefix, f08):
    for name, old, new in (("Status_f2f08", "f_status", "f08_status"), ("Status_f082f", "f08_status", "f_status")):
        types = {"f_status": "integer, dimension(8)", "f08_status": "type(MPI_Status)"}
        optional = ", optional" if f08 else ""
        yield (f"  interface\n    subroutine {prefix}{name}({old}, {new}, ierror)\n      import :: MPI_Status\n"
               f"      {types[old]}, intent(in) :: {old}\n      {types[new]}, intent(out) :: {new}\n"
               f"      integer{optional}, intent(out) :: ierror\n    end subroutine\n  end interface\n")
    yield (f"  interface\n    subroutine {prefix}F_sync_reg(buf)\n      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n"
           "      type(*), dimension(*) :: buf\n    end subroutine\n  end interface\n")


def generics(functions):
    """{generic name: its specific procedures}: the large-count form shares the name where arguments tell them apart."""
    found = {}
    for function in functions:
        if function.base in ONLY_MPI:
            continue
        name = function.name
        if function.is_f08_only:
            base = name[:-2]
            kinds = {a.kind for a in function.arguments}
            if kinds & {"count", "displacement"} if function.large else "large" in kinds:
                name = base
        found.setdefault(name, []).append(function)
    return found


def mpi_f08_text(functions, header, has_real10):
    yield "! The module mpi_f08 of MPI 5.0. Written by src/fortran/make_fortran.py.\n"
    yield "module mpi_f08\n  use, intrinsic :: iso_c_binding, only: c_ptr\n  use sorrel_mpi_types\n  implicit none\n  public\n  private :: c_ptr\n"
    yield from constants_module_text(header, True)
    yield (SOURCE / "callbacks.f90").read_text(encoding="utf-8")
    for prefix in ("MPI_", "PMPI_"):
        yield from sizeof_text(prefix, has_real10)
        yield from status_text(prefix, True)
        for name, specifics in generics(functions).items():
            if specifics[0].is_function:
                yield "  interface\n"
                yield from interface(specifics[0], prefix + name, True)
                yield "  end interface\n"
                continue
            yield f"  interface {prefix}{name}\n"
            for function in specifics:
                yield from interface(function, prefix + function.symbol, True)
            yield "  end interface\n"
    yield "end module mpi_f08\n"


def main(arguments):
    has_real10 = "--real10" in arguments
    arguments = [word for word in arguments if word != "--real10"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    what, path = arguments
    root = SOURCE.parent.parent
    header = (root / "include/mpi/mpi.h").read_text(encoding="utf-8")
    try:
        table = make_bindings.parse((SOURCE.parent / "abi/functions.txt").read_text(encoding="utf-8"))
        functions = list(functions_of(table))
        texts = {"aliases": aliases_text, "types": types_text,
                 "mpif": lambda: mpif_text(functions, header), "mpi": lambda: mpi_text(functions, header, has_real10),
                 "mpi_f08": lambda: mpi_f08_text(functions, header, has_real10)}
        if what.startswith("shims-"):
            chapter = what.removeprefix("shims-")
            wanted = (f for f in functions if f.table.chapter == chapter and "dynamic" not in f.table.flags)
            text = "".join(shims_text(wanted))
        elif what == "dynamic":
            text = "".join(shims_text(f for f in functions if "dynamic" in f.table.flags))
        elif what in texts:
            text = "".join(texts[what]())
        else:
            sys.exit(__doc__)
    except make_bindings.TableError as error:
        sys.exit(f"make_fortran.py: {error}")
    Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
