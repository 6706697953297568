#!/usr/bin/env python3
"""Writes a C program's list of calls, each with a null pointer for one argument that the call needs.

make_null_calls.py MPI_H OUTPUT: every function that MPI_H declares, every pointer that it writes
through, and statuses that it reads. A line is REFUSED(function, argument, by, call): the
error goes to the handler of the communicator (1), of the window (2), of files (3), or else of MPI_COMM_SELF (0). null_arguments.c has the
names that the calls use.
"""
import re
import sys
from pathlib import Path

# Arguments that the standard allows to be null, or that only the program uses.
FREE = {"buf", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf", "buffer", "base", "location", "extra_state", "origin_addr", "result_addr",
        "argc", "argv"}
# The constructor of the struct type that the calls query: with MPI_Count counts all its numbers are large counts. A name of no length
# is not written.
FREE_IN = {("Type_get_contents_c", "array_of_integers"), ("Type_get_contents_c", "array_of_addresses"),
           ("Session_get_nth_pset", "pset_name")}
NUMBERS = {"required": "MPI_THREAD_SINGLE", "errorcode": "MPI_ERR_OTHER", "errorclass": "MPI_ERR_OTHER",
           "split_type": "MPI_COMM_TYPE_SHARED", "order": "MPI_ORDER_C", "typeclass": "MPI_TYPECLASS_INTEGER",
           "size": "4", "comm_keyval": "MPI_TAG_UB", "keyval": "MPI_TAG_UB", "valuelen": "7", "commute": "1",
           "count": "1", "incount": "1", "n": "1", "ndims": "1", "maxdims": "1", "nnodes": "1", "maxindegree": "1",
           "maxoutdegree": "1", "maxindex": "1", "maxedges": "1", "maxneighbors": "1"}
HANDLES = {"MPI_Comm": "comm", "MPI_Group": "group", "MPI_Info": "info", "MPI_Errhandler": "self_handler",
           "MPI_Op": "MPI_SUM", "MPI_Win": "win", "MPI_Request": "MPI_REQUEST_NULL", "MPI_Session": "session", "MPI_File": "file"}


def declarations(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    for found in re.finditer(r"SORREL_MPI\((\w+), (\w+),\s*\(([^;]*)\)\);", text):
        if found[1] == "int":
            parameters = [re.sub(r"\s+", " ", word).strip() for word in found[3].split(",")]
            yield found[2], [word for word in parameters if word not in ("void", "...")]


def name_of(parameter):
    return re.search(r"(\w+)\s*(\[.*)?$", parameter)[1]


def is_pointer(parameter):
    return "*" in parameter or "[" in parameter


def is_needed(function, parameter):
    """Whether a null pointer for this parameter is an error."""
    name = name_of(parameter)
    if not is_pointer(parameter) or "_function" in parameter or name in FREE or (function, name) in FREE_IN:
        return False
    if "MPI_Status" in parameter:
        return parameter.startswith("const") or function.startswith("Status_set")
    if name == "attribute_val":
        return "get" in function
    return not parameter.startswith("const")


def datatype_for(function):
    """MPI_Type_get_contents needs a type that was made; the others take any."""
    if "get_contents" not in function:
        return "MPI_INT"
    return "struct_type_c" if function.endswith("_c") else "struct_type"


def value_of(function, parameter):
    """An argument with which the call would go on if none were null."""
    name = name_of(parameter)
    if "_function" in parameter:
        return f"({parameter.split('*')[0].strip()}*)any_function"
    if name == "message" and is_pointer(parameter):
        return "&no_message"
    if name == "key" and parameter.startswith("const"):
        return '"key"'
    if is_pointer(parameter):
        return f"any_place({name_of(parameter)!r})".replace("'", '"')
    kind = parameter.split(" ")[0]
    if kind == "MPI_Datatype":
        return datatype_for(function)
    if kind == "MPI_Comm" and "_create" not in function and "_map" not in function:
        for word, comm in (("Cart", "grid"), ("Dist_graph", "dist_graph"), ("Graph", "graph"), ("Neighbor", "grid"), ("Ineighbor", "grid")):
            if function.startswith(word):
                return comm
    if kind == "MPI_Errhandler" and function.startswith("Session"):
        return "session_handler"
    if kind in HANDLES:
        return HANDLES[kind]
    if name.startswith("max_"):
        return "100"
    return NUMBERS.get(name, "0")


def calls(function, parameters):
    for chosen in parameters:
        if not is_needed(function, chosen):
            continue
        arguments = ["NULL" if one is chosen else value_of(function, one) for one in parameters]
        kinds = [one.split(" ")[0] for one in parameters]
        is_of_file = "MPI_File" in kinds or "MPI_File*" in kinds or function == "File_delete"
        by = 3 if is_of_file else 1 if "MPI_Comm" in kinds else 2 if "MPI_Win" in kinds else 0
        yield (f'REFUSED("{function}", "{name_of(chosen)}", {by}, '
               f"MPI_{function}({', '.join(arguments)}))")


def main():
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    lines = [line for function, parameters in declarations(text) for line in calls(function, parameters)]
    if len(lines) < 200:
        sys.exit(f"only {len(lines)} calls: the declarations of {sys.argv[1]} are written in another way")
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
