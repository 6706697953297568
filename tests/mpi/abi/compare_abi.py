"""Compares include/mpi/mpi.h with the standard ABI header of an independent implementation.

The C preprocessor gives the names of both headers; a probe program compiled with each prints the type and
value of every constant and the layout of every type. What must agree:

- constants: each of the reference is ours, with its type and value, and a macro stays a macro; none is added
- types: each of the reference is ours, with its size, alignment and members; callbacks have the same signature
- functions: each of ours is one of the reference, as MPI_ and as PMPI_, with the same prototype

A function of the reference that is not ours is no difference: the header declares only what the library has. With
--complete it is one.
Names that start neither with MPI_ nor with PMPI_ (MPIX_ among them) are not the standard's and are left alone. So are the conversions between C and Fortran, which the ABI lacks.

Exit status: 0 the same, 1 differences (one line each), 77 no reference header found.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77

# Without the names for C and Fortran in one program, which the standard has outside its ABI.
STANDARD = re.compile(r"P?MPI_(?!Fint$|F08_status$|F(08)?_STATUS(ES)?_IGNORE$|\w+_(c|f|f08)2(c|f|f08)$)\w+")
MACRO = re.compile(r"#define (MPI_\w+) (.+)")
ENUM = re.compile(r"(?:typedef\s+)?enum\b[^{]*\{(.*)\}", re.DOTALL)
STRUCT = re.compile(r"typedef\s+struct\b[^{]*\{(.*)\}\s*(\w+)", re.DOTALL)
MEMBER = re.compile(r".*?(\w+)(\[\w+\])?", re.DOTALL)
FUNCTION_TYPE = re.compile(r"typedef\b[^()]*\(\s*(\w+)\s*\)\s*\(.*\)", re.DOTALL)
OBJECT_TYPE = re.compile(r"typedef\b.*\b(\w+)", re.DOTALL)
PROTOTYPE = re.compile(r"(?!typedef\b)[\w\s*]+?\b(\w+)\s*\(.*\)", re.DOTALL)


class CompilerError(Exception):
    """The compiler refused; the message is the compiler's."""


@dataclasses.dataclass
class Header:
    """The names of one header, each with the text of its declaration."""

    path: pathlib.Path
    macros: dict = dataclasses.field(default_factory=dict)
    enumerators: dict = dataclasses.field(default_factory=dict)
    object_types: dict = dataclasses.field(default_factory=dict)
    function_types: dict = dataclasses.field(default_factory=dict)
    members: dict = dataclasses.field(default_factory=dict)
    functions: dict = dataclasses.field(default_factory=dict)

    @property
    def constants(self):
        return self.macros | self.enumerators

    @property
    def types(self):
        return self.object_types | self.function_types


def run(*command, text=None):
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise CompilerError(done.stderr)
    return done.stdout


def read_header(path, compiler):
    header = Header(path)
    for line in run(compiler, "-E", "-dM", "-x", "c", path).splitlines():
        if found := MACRO.fullmatch(line):
            header.macros[found[1]] = found[2]
    for statement in statements(run(compiler, "-E", "-P", "-x", "c", path)):
        read_statement(header, statement)
    return header


def statements(text):
    """The declarations of preprocessed C, without their semicolons."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    depth = start = 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == ";" and depth == 0:
            yield " ".join(text[start:place].split())
            start = place + 1


def read_statement(header, statement):
    if found := ENUM.match(statement):
        for entry in found[1].split(","):
            name = entry.split("=")[0].strip()
            if STANDARD.fullmatch(name):
                header.enumerators[name] = entry
    # Headers of the compiler, which mpi.h includes, have others.
    if (found := STRUCT.fullmatch(statement)) and STANDARD.fullmatch(found[2]):
        members = [member.strip() for member in found[1].split(";") if member.strip()]
        header.members[found[2]] = {MEMBER.fullmatch(member)[1]: member for member in members}
    for pattern, names in (
        (FUNCTION_TYPE, header.function_types),
        (OBJECT_TYPE, header.object_types),
        (PROTOTYPE, header.functions),
    ):
        if found := pattern.fullmatch(statement):
            if STANDARD.fullmatch(found[1]):
                names[found[1]] = statement
            return


def probe(header, constants, types, members, compiler):
    """What the compiler makes of the given names of a header, as {name: description}."""
    candidates = ["int", "long", "int*", "void*", "char**", "char***"]
    candidates += [name for name in types if name in header.object_types]
    candidates += [f"{name}*" for name in types]
    kind = "".join(f'__builtin_types_compatible_p(__typeof__(x), {type_}) ? "{type_}" : ' for type_ in candidates)
    lines = [
        f'#include "{header.path}"',
        "#include <stddef.h>",
        "#include <stdio.h>",
        f'#define KIND(x) ({kind}"of no type that this test knows")',
        "int main(void) {",
    ]
    for name in constants:
        lines.append(f'printf("{name}\\t%s %lld\\n", KIND({name}), (long long)(intptr_t)({name}));')
    for name in types:
        if name in header.object_types:
            lines.append(f'printf("{name}\\tsize %zu, alignment %zu\\n", sizeof({name}), _Alignof({name}));')
    for name, member in members:
        layout = f"offsetof({name}, {member}), sizeof((({name}*)0)->{member})"
        text = header.members[name][member]
        lines.append(f'printf("{name}.{member}\\t{text} at %zu, size %zu\\n", {layout});')
    lines += ["return 0; }", ""]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "probe")
        run(compiler, "-std=gnu11", "-w", "-x", "c", "-", "-o", program, text="\n".join(lines))
        return dict(line.split("\t") for line in run(program).splitlines())


def conflicts(header, declarations, compiler):
    """Which of the declarations ({name: C text}) contradict what the header says about the same names."""
    lines = [f'#include "{header.path}"']
    for name, text in declarations.items():
        lines += [f'#line 1 "declaration-of-{name}"', f"{text};"]
    command = [compiler, "-std=gnu11", "-fsyntax-only", "-fmax-errors=0", "-x", "c", "-"]
    done = subprocess.run(command, input="\n".join([*lines, ""]), capture_output=True, text=True)
    found = sorted(set(re.findall(r"^declaration-of-(\w+):.* error: ", done.stderr, re.MULTILINE)))
    if done.returncode != 0 and not found:
        raise CompilerError(done.stderr)
    return found


def presence_differences(kind, ours, reference):
    for name in reference:
        if name not in ours:
            yield f"{name}: {kind} missing"
    for name in ours:
        if STANDARD.fullmatch(name) and name not in reference:
            yield f"{name}: {kind} that the reference does not have"


def function_differences(ours, reference):
    for name in ours.functions:
        if name not in reference.functions:
            yield f"{name}: function that the reference does not have"
        twin = name[1:] if name.startswith("P") else f"P{name}"
        if twin not in ours.functions:
            yield f"{name}: function without {twin}"


def compare(ours_path, reference, compiler, is_complete=False):
    """Every difference between the header at ours_path and the reference, one line each."""
    ours = read_header(ours_path, compiler)
    differences = [
        *presence_differences("constant", ours.constants, reference.constants),
        *presence_differences("type", ours.types, reference.types),
        *function_differences(ours, reference),
    ]
    if is_complete:
        differences += [f"{name}: function missing" for name in reference.functions if name not in ours.functions]
    differences += [
        f"{name}: no macro, so that #ifdef does not see it"
        for name in reference.macros
        if name in ours.enumerators
    ]
    for name, members in reference.members.items():
        ours_members = ours.members.get(name, {})
        differences += presence_differences(f"member of {name}", ours_members, members)

    common = [
        [name for name in reference.constants if name in ours.constants],
        [name for name in reference.object_types if name in ours.object_types]
        + [name for name in reference.function_types if name in ours.function_types],
        [(name, member) for name in reference.members for member in ours.members.get(name, {})
         if member in reference.members[name]],
    ]
    expected = probe(reference, *common, compiler)
    for name, found in probe(ours, *common, compiler).items():
        if found != expected[name]:
            differences.append(f"{name}: {found}; the reference: {expected[name]}")
        elif "of no type" in found:
            differences.append(f"{name}: {found}")

    signatures = {name: text for name, text in reference.function_types.items() if name in ours.types}
    prototypes = {name: text for name, text in reference.functions.items() if name in ours.functions}
    for name in conflicts(ours, signatures | prototypes, compiler):
        differences.append(f"{name}: not declared as in the reference: {(signatures | prototypes)[name]}")
    return ours, differences


# One change of each kind, and the name that must be reported: (what, pattern in mpi.h, replacement).
MUTATIONS = (
    ("MPI_ERR_RANK", r"(#define MPI_ERR_RANK) 6\b", r"\1 7"),
    ("MPI_TAG_UB", r"#define MPI_TAG_UB 501\n", ""),
    ("MPI_ANY_TAG", r"#define MPI_ANY_TAG \(-2\)", "#define MPI_ANY_TAG (-2L)"),
    ("MPI_BSEND_OVERHEAD", r"#define MPI_BSEND_OVERHEAD 512", "enum { MPI_BSEND_OVERHEAD = 512 };"),
    ("MPI_DOUBLE", r"(#define MPI_DOUBLE \(\(MPI_Datatype\))0x214", r"\g<1>0x215"),
    ("MPI_MIN", r"(#define MPI_MIN) \(\(MPI_Op\)", r"\1 ((MPI_Info)"),
    ("MPI_T_CB_REQUIRE_THREAD_SAFE", r"(MPI_T_CB_REQUIRE_THREAD_SAFE =) 15", r"\1 16"),
    ("MPI_ERR_SORREL", r"(#define MPI_ERR_RANK 6)", r"\1\n#define MPI_ERR_SORREL 99"),
    ("MPI_Status", r"int MPI_internal\[5\]", "int MPI_internal[4]"),
    ("MPI_Status.MPI_TAG", r"(int MPI_SOURCE;)\s*(int MPI_TAG;)", r"\2 \1"),
    ("MPI_Offset", r"typedef int64_t MPI_Offset;", "typedef int32_t MPI_Offset;"),
    ("MPI_Session", r"typedef struct MPI_ABI_Session\* MPI_Session;", "#define MPI_Session void*"),
    ("MPI_User_function", r"(MPI_User_function\)\(void\* invec, void\* inoutvec,) int\*", r"\1 long*"),
    ("MPI_Send", r"(SORREL_MPI\(int, Send,\s*\()const void\* buf", r"\1void* buf"),
    ("MPI_Barrier", r"type PMPI_##name arguments", "type QMPI_##name arguments"),
    ("MPI_Barrier2", r"(SORREL_MPI\(int, Barrier), ", r"\g<1>2, "),
)


def self_check(ours_path, reference, compiler):
    """Breaks a copy of our header in each of the ways above; returns what compare() did not report."""
    text = ours_path.read_text()
    unnoticed = []
    for name, pattern, replacement in MUTATIONS:
        mutated, count = re.subn(pattern, replacement, text)
        if count != 1:
            unnoticed.append(f"{name}: the self-check changes {count} places of the header, not one")
            continue
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "mpi.h")
            copy.write_text(mutated)
            _, differences = compare(copy, reference, compiler)
        if not any(line.startswith(f"{name}:") for line in differences):
            unnoticed.append(f"{name}: the difference was not noticed")
    return unnoticed


def find_reference(named, venv):
    if named:
        return pathlib.Path(named)
    return next(iter(sorted(venv.rglob("mpi_abi.h"))), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--venv", type=pathlib.Path, default=pathlib.Path(".venv"), help="where to look for mpi_abi.h")
    parser.add_argument("--reference", default="", help="the mpi_abi.h to use instead")
    parser.add_argument("--complete", action="store_true", help="expect every function of the reference")
    parser.add_argument("--self-check", action="store_true", help="break our header in memory; expect it noticed")
    options = parser.parse_args()

    reference_path = find_reference(options.reference, options.venv)
    if reference_path is None:
        print(f"skipped: no mpi_abi.h below {options.venv} (the PyPI wheel mpich >= 5 has one)")
        return SKIPPED
    reference = read_header(reference_path, options.compiler)
    if options.self_check:
        problems = self_check(options.ours, reference, options.compiler)
        summary = f"{len(MUTATIONS)} changes of one declaration each, all noticed"
    else:
        ours, problems = compare(options.ours, reference, options.compiler, options.complete)
        shared = len(ours.functions) // 2
        summary = f"{len(reference.constants)} constants, {len(reference.types)} types, {shared} functions agree"
    print(f"{options.ours} against {reference_path}")
    print("\n".join(problems) if problems else summary)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
