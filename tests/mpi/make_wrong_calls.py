#!/usr/bin/env python3
"""Writes a C program's list of calls, each with one wrong argument, from the table of MPI's functions (src/abi/functions.txt).

make_wrong_calls.py EXCEPTIONS OUTPUT: every function, every argument, every kind of wrong value: a null pointer, a null handle, a handle
of another kind, a negative count, a rank, root, tag or keyval that is none. A line is WRONG(function, argument, class, by, call):
the error goes to the handler of MPI_COMM_SELF (0), of the communicator (1), of the window (2), of files (3), or of the session (4).
For the tool interface, whose functions return their errors and call no handler, it is TOOL(function, argument, what, class, call).
EXCEPTIONS is wrong_calls.txt, whose head explains it. wrong_arguments.c has the names that the calls use.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src" / "abi"))
import make_bindings  # noqa: E402

# They end the caller, or what the calls need.
SKIPPED = {"Init", "Init_thread", "Finalize", "Abort", "Pcontrol", "Free_mem", "Session_finalize", "Session_init"}
# Conversions of handles, which have no errors.
SKIPPED_CHAPTERS = {"19"}
TOOL_CHAPTER = "15"
# Pointers that the standard allows to be null, or that only the program uses.
FREE = {"extra_state", "argc", "argv", "base", "location", "array_of_errcodes", "array_of_argv"}
# The constructor of the struct type that the calls query: with MPI_Count counts all its numbers are large counts. A name of no length
# is not written.
FREE_IN = {("Type_get_contents_c", "array_of_integers"), ("Type_get_contents_c", "array_of_addresses"), ("Session_get_nth_pset", "pset_name")}
NUMBERS = {"required": "MPI_THREAD_SINGLE", "errorcode": "MPI_ERR_OTHER", "errorclass": "MPI_ERR_OTHER",
           "split_type": "MPI_COMM_TYPE_SHARED", "order": "MPI_ORDER_C", "typeclass": "MPI_TYPECLASS_INTEGER",
           "valuelen": "7", "commute": "1", "count": "1", "incount": "1", "n": "1", "ndims": "1", "maxdims": "1", "nnodes": "1",
           "maxindegree": "1", "maxoutdegree": "1", "maxindex": "1", "maxedges": "1", "maxneighbors": "1", "maxprocs": "1",
           "partitions": "1", "lock_type": "MPI_LOCK_SHARED", "disp_unit": "1", "whence": "MPI_SEEK_SET", "amode": "MPI_MODE_RDWR"}
SIZES = {"Buffer_attach", "Comm_attach_buffer", "Session_attach_buffer", "Type_match_size", "Win_create", "Win_allocate", "File_set_size"}
GROUPED = {"comm": "comm", "group": "group", "info": "info", "hints": "info", "errhandler": "self_handler", "op": "MPI_SUM", "win": "win",
           "request": "MPI_REQUEST_NULL", "session": "session", "file": "file", "cart": "grid", "graph": "graph", "dist_graph": "dist_graph",
           "topology": "grid"}
# By the kind of an argument: the class of its error, and wrong values.
WRONG = {
    "comm": ("COMM", ["MPI_COMM_NULL", "(MPI_Comm)info"]),
    "cart": ("COMM", ["MPI_COMM_NULL"]), "graph": ("COMM", ["MPI_COMM_NULL"]), "dist_graph": ("COMM", ["MPI_COMM_NULL"]),
    "topology": ("COMM", ["MPI_COMM_NULL"]),
    "datatype": ("TYPE", ["MPI_DATATYPE_NULL", "(MPI_Datatype)info"]), "type": ("TYPE", ["MPI_DATATYPE_NULL", "(MPI_Datatype)info"]),
    "op": ("OP", ["MPI_OP_NULL", "(MPI_Op)info"]),
    "group": ("GROUP", ["MPI_GROUP_NULL", "(MPI_Group)info"]),
    "info": ("INFO", ["(MPI_Info)group"]), "hints": ("INFO", ["MPI_INFO_NULL", "(MPI_Info)group"]),
    "win": ("WIN", ["MPI_WIN_NULL", "(MPI_Win)info"]), "file": ("FILE", ["MPI_FILE_NULL", "(MPI_File)info"]),
    "session": ("SESSION", ["MPI_SESSION_NULL", "(MPI_Session)info"]),
    "errhandler": ("ERRHANDLER", ["MPI_ERRHANDLER_NULL", "(MPI_Errhandler)info"]),
    "request": ("REQUEST", ["(MPI_Request)info"]), "message": ("REQUEST", ["(MPI_Message)info"]),
    "rank": ("RANK", ["-7", "dims[0]"]), "root": ("ROOT", ["-7", "dims[0]"]), "tag": ("TAG", ["-7"]), "count": ("COUNT", ["-1"]),
    "keyval": ("KEYVAL", ["MPI_KEYVAL_INVALID", "MPI_ERR_LASTCODE"]),
}
VARIABLES = {"comm": "MPI_Comm", "datatype": "MPI_Datatype", "op": "MPI_Op", "group": "MPI_Group", "info": "MPI_Info", "win": "MPI_Win",
             "file": "MPI_File", "session": "MPI_Session", "errhandler": "MPI_Errhandler", "request": "MPI_Request", "message": "MPI_Message"}


def datatype_for(name):
    """MPI_Type_get_contents needs a type that was made; the others take any."""
    return ("struct_type_c" if name.endswith("_c") else "struct_type") if "get_contents" in name else "MPI_INT"


def element_of(argument, large):
    """The C type of an array's elements."""
    return make_bindings.SIZED[argument.kind][large] if argument.kind in make_bindings.SIZED else make_bindings.SCALARS[argument.kind]


def value_of(function, argument, large):
    """An argument with which the call would go on."""
    name, kind = argument.name, argument.kind
    if argument.is_verbatim():
        if "remote_group" in kind or "datarep" in kind:
            return "group" if "remote_group" in kind else '"external32"'
        return f'any_place("{name}")' if argument.is_pointer() else "0"
    if kind.startswith("function "):
        return f"({kind.split()[1]}*)any_function"
    if kind == "string" and argument.direction == "in":
        return '"external32"' if "external" in function.name else '"native"' if name == "datarep" and "File" in function.name else '"key"'
    if kind == "buffer":
        return f'buffer("{name}")'
    if argument.is_array or kind in ("pointer", "attribute", "extra_state", "status", "string"):
        return f'any_place("{name}")'
    if argument.direction != "in":
        if kind in VARIABLES and argument.direction == "inout":
            return f"variable_of_{kind}({GROUPED.get(kind, 'MPI_MESSAGE_NO_PROC' if kind == 'message' else datatype_for(function.name))})"
        return f'any_place("{name}")'
    if kind in ("datatype", "type"):
        return datatype_for(function.name + ("_c" if large else "")) if kind == "type" else "MPI_INT"
    if kind == "errhandler":
        subject = function.name.split("_")[0]
        return {"Session": "session_handler", "Win": "win_handler", "File": "file_handler"}.get(subject, "self_handler")
    if kind in GROUPED:
        if kind == "comm" and function.name.startswith(("Neighbor", "Ineighbor")):
            return "grid"
        return GROUPED[kind]
    if kind == "keyval":
        return {"Type": "type_keyval", "Win": "win_keyval"}.get(function.name.split("_")[0], "comm_keyval")
    if name.startswith("max_"):
        return "100"
    if name == "size":
        return "4" if function.name in SIZES else "1"
    if kind in ("rank", "root"):
        return "0"
    return NUMBERS.get(name, "1" if kind == "count" else "0")


def wrong_values(function, argument, large):
    """(class, what is wrong, value) of each wrong value of the argument."""
    kind = argument.kind
    if argument.is_verbatim() or kind.startswith("function "):
        if kind.startswith("function ") and not re.search("copy|delete", argument.name):
            yield "ARG", "null", "NULL"
        return
    if argument.is_pointer() and kind != "buffer" and argument.name not in FREE and (function, argument.name) not in FREE_IN:
        is_ignored = kind == "status" and argument.direction == "out"
        if not is_ignored and kind not in ("attribute", "extra_state") or kind == "attribute" and argument.direction == "out":
            yield "ARG", "null", "NULL"
    if kind not in WRONG or argument.direction == "out" or argument.direction == "inout" and not argument.is_array and kind not in VARIABLES:
        return
    error, values = WRONG[kind]
    for number, value in enumerate(values):
        what = "null" if "NULL" in value or "INVALID" in value else "negative" if value.startswith("-") else "other" if "info" in value or "group" in value else "large"
        if argument.is_array:
            yield error, f"{what}_element", f"({element_of(argument, large)}[8]){{{', '.join([value] * 8)}}}"
        elif argument.direction == "inout":
            yield error, what, f"variable_of_{kind}({value})"
        else:
            yield error, what, value


def exceptions(path):
    """(function, argument, what) -> class, or None where the call is not made; with * for every function."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 4)
        if len(words) < 5:
            sys.exit(f"{path}:{number}: not FUNCTION ARGUMENT WHAT CLASS REASON")
        for function in words[0].split(","):
            for argument in words[1].split(","):
                for what in words[2].split(","):
                    found[function, argument, what] = None if words[3] == "-" else words[3]
    return found


def calls(function, known, used):
    for name, large in function.forms():
        for position, argument in enumerate(function.arguments):
            for error, what, wrong in wrong_values(name, argument, large):
                for key in ((function.name, argument.name, what), (function.name, argument.name, "*"), ("*", argument.name, what),
                            (function.name, "*", what)):
                    if key in known:
                        used.add(key)
                        error = known[key]
                        break
                if error is None:
                    continue
                values = [wrong if i == position else value_of(function, one, large) for i, one in enumerate(function.arguments)]
                is_object = argument is function.object()
                if function.file() is not None or function.name in ("File_open", "File_delete"):
                    by = 3
                elif function.session() is not None:
                    by = 0 if is_object else 4
                elif function.win() is not None:
                    by = 0 if is_object else 2
                elif function.comm() is not None:
                    by = 0 if is_object else 1
                else:
                    by = 0
                yield f'WRONG("{name}", "{argument.name}", "{what}", MPI_ERR_{error}, {by}, MPI_{name}({", ".join(values)}))'


# For the tool interface: by the type of an argument, the name of one that is valid, and the class of an error.
TOOL_HANDLES = {"MPI_T_cvar_handle": ("cvar", "HANDLE"), "MPI_T_pvar_handle": ("pvar", "HANDLE"), "MPI_T_pvar_session": ("pvar_session", "SESSION"),
                "MPI_T_enum": ("enumeration", "HANDLE"), "MPI_T_event_registration": ("registration", "HANDLE"),
                "MPI_T_event_instance": ("NULL", "HANDLE")}
TOOL_VALUES = {"name": '"sorrel_workers"', "var_class": "MPI_T_PVAR_CLASS_LEVEL", "len": "4", "required": "MPI_THREAD_SINGLE"}
# What these give, a tool may not want; what the others take or keep may be null.
TOOL_OPTIONAL = {"T_cvar_get_info", "T_pvar_get_info", "T_event_get_info", "T_source_get_info", "T_category_get_info", "T_enum_get_info",
                 "T_enum_get_item"}
TOOL_FREE = {"obj_handle", "user_data"}


def tool_value(function, argument):
    """An argument with which the call would go on."""
    name, kind = argument.name, argument.kind
    if kind in TOOL_HANDLES and argument.direction == "in":
        return TOOL_HANDLES[kind][0]
    if kind in TOOL_HANDLES and function.name.endswith("_free"):
        return f"&{TOOL_HANDLES[kind][0]}"
    if argument.is_verbatim():
        return "0"
    if kind == "MPI_T_cb_safety":
        return "MPI_T_CB_REQUIRE_NONE"
    if kind == "info" and argument.direction == "in":
        return "info"
    if argument.is_pointer() and argument.direction == "out" or kind == "buffer":
        return f'any_place("{name}")'
    return TOOL_VALUES.get(name, "0")


def wrong_tool_values(function, argument):
    """(class, what is wrong, value) of each wrong value of the argument."""
    name, kind = argument.name, argument.kind
    if kind in TOOL_HANDLES and (argument.direction == "in" or function.name.endswith("_free")):
        error = f"INVALID_{TOOL_HANDLES[kind][1]}"
        for what, value in ("null", f"({kind})NULL"), ("other", f"({kind})info"):
            yield error, what, value if argument.direction == "in" else f"&({kind}){{{value}}}"
    elif kind == "MPI_T_cb_safety":
        yield "INVALID", "other", f"({kind})7"
    elif kind == "info" and argument.direction == "in":
        yield "INVALID", "other", "(MPI_Info)group"
    elif kind == "int" and argument.direction == "in" and name.endswith(("_index", "indx")):
        yield "INVALID_INDEX", "negative", "-1"
        yield "INVALID_INDEX", "large", "100000"
    elif name == "name" and argument.direction == "in":
        yield "INVALID_NAME", "other", '"nothing"'
    if argument.is_pointer() and not argument.is_verbatim() and function.name not in TOOL_OPTIONAL and name not in TOOL_FREE:
        yield "INVALID", "null", "NULL"


def tool_calls(function):
    instance = next((one for one in function.arguments if one.kind == "MPI_T_event_instance"), None)
    for position, argument in enumerate(function.arguments):
        # An instance is valid in a callback only (tools_observe_events.c), and checked first.
        if instance is not None and argument is not instance:
            continue
        for error, what, wrong in wrong_tool_values(function, argument):
            values = [wrong if i == position else tool_value(function, one) for i, one in enumerate(function.arguments)]
            yield f'TOOL("{function.name}", "{argument.name}", "{what}", MPI_T_ERR_{error}, MPI_{function.name}({", ".join(values)}))'


def main():
    known = exceptions(Path(sys.argv[1]))
    used = set()
    table = Path(make_bindings.__file__).with_name("functions.txt")
    functions = [f for f in make_bindings.parse(table.read_text(encoding="utf-8"))
                 if f.name not in SKIPPED and f.chapter not in SKIPPED_CHAPTERS and f.result == "int"]
    lines = [line for function in functions
             for line in (tool_calls(function) if function.chapter == TOOL_CHAPTER else calls(function, known, used))]
    unused = sorted(set(known) - used)
    if unused:
        sys.exit("".join(f"{sys.argv[1]}: no call is an example of {' '.join(key)}\n" for key in unused))
    if len(lines) < 1000:
        sys.exit(f"only {len(lines)} calls")
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
