#!/usr/bin/env python3
"""stand_in.py COMMAND [ARGUMENT...]

Takes the place of a command in blocks that are checked and not run (run_blocks.py): it would need minutes, an administrator, other machines, or a tool that is
not installed. Its arguments are compared with what decides them: the options of `sorrel COMMAND --help`, the parsers of the project's scripts, CMake's
presets, the packages and requirements in ./dev, the files of the sources. Anything that these do not know is an error. A command that starts another one does so;
one that makes files leaves them, so that the next commands find them.
"""
from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import typing

Words = list[str]
Check = typing.Callable[[Words], None]
CHECKS: dict[str, Check] = {}
# Programs of a build: the folder and the end of the name of their sources, or of the folder with these.
BUILT = {"test": ("tests/unit", ""), "bench": ("bench/micro", "_bench.cpp"), "fuzz": ("tests/fuzz", "_fuzz.cpp")}


class Wrong(Exception):
    pass


def require(condition: object, message: str) -> None:
    if not condition:
        raise Wrong(message)


def checks(*names: str) -> typing.Callable[[Check], Check]:
    def enter(function: Check) -> Check:
        CHECKS.update(dict.fromkeys(names, function))
        return function

    return enter


def find(command: str) -> Check | None:
    """What checks the arguments of a command, which may be a path."""
    name = pathlib.PurePath(command).name
    kind, _, noun = name.partition("_")
    if kind in BUILT and noun:
        return lambda words: built_program(kind, noun, words)
    return CHECKS.get(name)


def sources(*parts: str) -> pathlib.Path:
    return pathlib.Path(os.environ["DOCS_SOURCES"], *parts)


def prefix(*parts: str) -> pathlib.Path:
    return pathlib.Path(os.environ["DOCS_PREFIX"], *parts)


def parser(name: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=name, allow_abbrev=False, add_help=False)


def start(command: Words) -> None:
    require(command, "no command to start")
    # A job passes descriptors on.
    sys.exit(subprocess.run(command, check=False, close_fds=False).returncode)


def make_program(path: pathlib.Path, *command: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexec {' '.join(command)} \"$@\"\n")
    path.chmod(0o755)


# ---- the project's own commands -------------------------------------------------------------------


@checks("dev")
def dev(words: Words) -> None:
    text = sources("dev").read_text()
    usage = re.search(r"^usage\(\) \{.*?^EOF$", text, re.M | re.S)[0]
    require(words, "no command")
    command, rest = words[0], words[1:]
    require(re.search(rf"^  {re.escape(command)} ", usage, re.M), f"no command '{command}'")
    if command == "bench":
        bench([word for word in rest if word != "--peers"] or ["probes"])
    elif command in ("test", "asan", "tsan"):
        own = re.findall(r"^ {6}(--\w+)\)", text, re.M) if command == "test" else []
        ctest(["--preset", "dev" if command == "test" else command, *(word for word in rest if word not in own)])
    elif command == "stress":
        script("tests/stress/stress.py", ["--build", "build/dev", *rest])
    elif command == "emulate":
        numbers = re.findall(r"^ {6}(--\w+)\) \w+=\$\{2", text, re.M)
        while rest[:1] and rest[0] in numbers:
            require(len(rest) > 1 and rest[1].isdigit(), f"{rest[0]} needs a number")
            rest = rest[2:]
        require(rest and not rest[0].startswith("-"), "emulate needs a command")
    elif command == "lint":
        require(rest in ([], ["--fix"]), "lint takes --fix only")
    elif command == "tidy":
        for word in rest:
            require((sources(word)).is_file(), f"no file '{word}'")
    else:
        require(len(rest) == (command in ("install", "release")), f"wrong number of arguments: {rest}")


@checks("sorrel")
def sorrel(words: Words) -> None:
    require(words, "no command")
    if words[0] == "bench":
        bench(words[1:])
        return
    if words[0] in ("cc", "cxx", "fc"):
        require(any(pathlib.Path(word).is_file() for word in words), "no file to compile")
        return
    options = options_of(words[0])
    position = 1
    while position < len(words):
        name, _, value = words[position].partition("=")
        if name.startswith("-"):
            require(name in options, f"{words[0]} has no option {name}")
            position += options[name] and not value
            require(position < len(words), f"{name} lacks its value")
        elif words[0] == "run":
            break
        position += 1
    require(words[0] != "run" or position < len(words), "no program")


def options_of(command: str) -> dict[str, bool]:
    """The options that `sorrel COMMAND --help` prints; True: with a value."""
    asked = subprocess.run([prefix("bin", "sorrel"), command, "--help"], capture_output=True, text=True, check=False)
    require(asked.returncode == 0, f"sorrel has no command {command}")
    options = {}
    for short, name, value in re.findall(r"^ {2,}(?:(-\w),)?(--?[\w-]+)( [A-Z]\S*)?(?: {2}|\n| \.\.\.)", asked.stdout, re.M):
        options |= {option: bool(value) for option in (short, name) if option}
    options |= {short: True for short in re.findall(r"also written (-\w+)", asked.stdout)}
    return options


def bench(words: Words) -> None:
    sys.path.insert(0, str(sources("python")))
    main = importlib.import_module("sorrel_bench.__main__")
    main.install_peers = main.studies.missing_modules = lambda: ""
    sys.argv = ["sorrel bench", *words]
    arguments = main.read_arguments()
    if arguments.name == "list":
        return
    # Folders of the reader; results are not written into the sources.
    for folder in (arguments.ampi, arguments.proxies, arguments.suites and arguments.suites / "mpi-benchmarks"):
        if folder is not None:
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for result in ("json", "table"):
        if (file := getattr(arguments, result)) is not None:
            setattr(arguments, result, pathlib.Path(pathlib.Path(file).name))
    main.check(arguments)


def built_program(kind: str, noun: str, words: Words) -> None:
    folder, end = BUILT[kind]
    code = sources(folder, noun + end)
    require(code.exists(), f"no sources {code}")
    text = "".join(file.read_text() for file in sorted(code.glob("*.cpp"))) if code.is_dir() else code.read_text()
    for word in words:
        name, _, value = word.partition("=")
        if name == "--gtest_filter":
            tests = [f"{suite}.{test}" for suite, test in re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", text, re.M)]
            require(fnmatch.filter(tests, value), f"no test is called {value}")
        elif name == "--benchmark_filter":
            require(re.search(value, text), f"no benchmark is called {value}")
        elif name == "--benchmark_repetitions":
            require(value.isdigit(), f"{name} needs a number")
        elif name == "--count" and kind == "fuzz":
            continue
        else:
            require(not word.startswith("-"), f"{kind}_{noun} has no option {word}")


# ---- scripts --------------------------------------------------------------------------------------


class Parsed(BaseException):
    """The script's parser has accepted its arguments."""


def script(file: str, words: Words) -> None:
    """Runs a script of the sources up to the place where its arguments are read; one without a parser is compared with its usage."""
    path = sources(file)
    require(path.is_file(), f"no file {file}")
    text = path.read_text()
    # One that reads sys.argv by itself would run.
    if path.suffix != ".py" or ("sys.argv" in text and "ArgumentParser(" not in text):
        require(words == ["--help"] or any(usage_allows(usage, words) for usage in usages(path)), f"{file} is not used so; see its first lines")
        return

    def stop_after(parse: typing.Callable) -> typing.Callable:
        def parse_and_stop(*arguments, **named):
            parse(*arguments, **named)
            raise Parsed

        return parse_and_stop

    for name in ("parse_args", "parse_intermixed_args"):
        setattr(argparse.ArgumentParser, name, stop_after(getattr(argparse.ArgumentParser, name)))
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path), *words]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except Parsed:
        return
    raise Wrong(f"{file} has not read its arguments")


def usages(path: pathlib.Path) -> list[str]:
    """What stands behind the script's name in the comment on top of it."""
    head = re.match(r"#![^\n]*\n((?:#[^\n]*\n)+|\"\"\".*?\"\"\")", path.read_text(), re.S)
    found = re.findall(rf"{re.escape(path.name)}(?=[ \n])(.*)", head[1]) if head else []
    return [usage.partition(": ")[0] for usage in found]


def usage_allows(usage: str, words: Words) -> bool:
    pattern = ""
    for token in re.findall(r"\[[^\]]*\]|'[^']*'|\S+", usage):
        inner = token.strip("[]'")
        repeated = inner.endswith(("...", "…")) and not token.startswith("'")
        name = inner.rstrip(".…")
        one = "(?:" + "|".join(map(re.escape, name.split("|"))) + ")\n" if name.islower() else "[^\n]+\n"
        pattern += f"(?:{one})" + ("*" if repeated and token.startswith("[") else "+" if repeated else "?" if token.startswith("[") else "")
    return re.fullmatch(pattern, "".join(f"{word}\n" for word in words)) is not None


@checks("bash")
def bash(words: Words) -> None:
    require(words, "no script")
    script(words[0], words[1:])


@checks("python", "python3")
def python(words: Words) -> None:
    require(words, "no script")
    if words[0] == "-m":
        module(words[1], words[2:])
    else:
        script(words[0], words[1:])


def module(name: str, words: Words) -> None:
    arguments = parser(f"python -m {name}")
    if name == "pip":
        pip(words)
    elif name == "venv":
        arguments.add_argument("folder", type=pathlib.Path)
        bin_folder = arguments.parse_args(words).folder / "bin"
        for command in ("python", "pip"):
            make_program(bin_folder / command, os.environ["DOCS_PYTHON"], "-B", __file__, command)
    elif name == "build":
        require(words == ["--wheel"], "build makes the wheel by --wheel")
        project = sources("pyproject.toml").read_text()
        package = re.search(r'^name = "(.*)"', project, re.M)[1].replace("-", "_")
        version = re.search(r"^project\(Sorrel VERSION ([0-9.]+)", sources("CMakeLists.txt").read_text(), re.M)[1]
        wheel = pathlib.Path("dist", f"{package}-{version}-py3-none-linux_x86_64.whl")
        wheel.parent.mkdir(exist_ok=True)
        wheel.touch()
    else:
        raise Wrong(f"no module {name}")


@checks("pip")
def pip(words: Words) -> None:
    """Installs what ./dev or a test installs too, or a file; a wheel of Sorrel brings the command."""
    arguments = parser("pip")
    arguments.add_argument("verb", choices=["install"])
    arguments.add_argument("--upgrade", action="store_true")
    arguments.add_argument("--no-binary")
    arguments.add_argument("--no-build-isolation", action="store_true")
    arguments.add_argument("what", nargs="+")
    parsed = arguments.parse_args(words)
    require("HDF5_DIR" not in os.environ or pathlib.Path(os.environ["HDF5_DIR"]).is_dir(), "no HDF5 there")
    require(all(shutil.which(os.environ.get(name, "sh")) for name in ("CC", "MPICC")), "no such compiler")
    known = sources("dev").read_text() + sources("tests/install/built_wheel.sh").read_text() + sources("docs/python.md").read_text()
    for what in parsed.what:
        if what.endswith(".whl"):
            require(pathlib.Path(what).exists(), f"no file {what}")
            command = pathlib.Path("env/bin/sorrel")
            command.unlink(missing_ok=True)
            command.symlink_to(prefix("bin", "sorrel"))
        else:
            require(re.search(rf"(?<![\w-]){re.escape(what)}(?![\w-])", known), f"nothing else installs {what}")


# ---- CMake ----------------------------------------------------------------------------------------


@checks("cmake")
def cmake(words: Words) -> None:
    arguments = parser("cmake")
    arguments.add_argument("-S", default=".", dest="source")
    arguments.add_argument("-B", dest="folder")
    arguments.add_argument("-D", action="append", default=[], dest="variables")
    arguments.add_argument("--preset")
    way = arguments.add_mutually_exclusive_group()
    way.add_argument("--build", nargs="?", const="")
    way.add_argument("--install", type=pathlib.Path)
    way.add_argument("--workflow", action="store_true")
    arguments.add_argument("--prefix", type=pathlib.Path)
    arguments.add_argument("--target", nargs="+", default=[])
    parsed = arguments.parse_args(words)
    presets = json.loads(pathlib.Path(parsed.source, "CMakePresets.json").read_text())
    kind = "workflowPresets" if parsed.workflow else "buildPresets" if parsed.build == "" else "configurePresets"
    if parsed.preset is not None:
        require(parsed.preset in [preset["name"] for preset in presets[kind] if not preset.get("hidden")], f"no preset {parsed.preset}")
    folders = ["build/" + preset["name"] for preset in presets["configurePresets"] if not preset.get("hidden")] + made_folders()
    folder = parsed.install or parsed.build
    if folder:
        require(any(str(folder).endswith(known) for known in folders), f"no preset builds in {folder}")
    else:
        require(parsed.preset, "no preset")
    lists = "".join(file.read_text() for pattern in ("CMakeLists.txt", "cmake/*.cmake", "tests/**/CMakeLists.txt") for file in sources().glob(pattern))
    for variable in parsed.variables:
        name = variable.partition("=")[0].partition(":")[0]
        require(name.startswith("CMAKE_") or re.search(rf"\b{re.escape(name)}\b", lists), f"no file of CMake has {name}")
    everything = lists + "".join(file.read_text() for folder in ("src", "tools") for file in sources(folder).rglob("CMakeLists.txt"))
    for target in parsed.target:
        require(re.search(rf"add_(?:executable|library|custom_target)\({re.escape(target)}\b", everything), f"no target {target}")
    if parsed.folder:
        pathlib.Path(parsed.folder, "CMakeFiles").mkdir(parents=True, exist_ok=True)
    if parsed.build or parsed.build == "":
        leave_programs(pathlib.Path(parsed.build or f"build/{parsed.preset}", "bin"))
    if parsed.install:
        require(parsed.prefix, "--install needs --prefix here")
        require(parsed.prefix.exists(), f"nothing is installed in {parsed.prefix}")


def made_folders() -> list[str]:
    """Folders of builds that earlier commands have made by -B."""
    return [str(file.parent) for file in pathlib.Path("build").glob("*/CMakeFiles")]


def leave_programs(folder: pathlib.Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        folder.symlink_to(prefix("bin"))


@checks("ctest")
def ctest(words: Words) -> None:
    arguments = parser("ctest")
    arguments.add_argument("--preset", required=True)
    for option in ("-R", "-L", "-E", "-LE", "-j"):
        arguments.add_argument(option)
    for option in ("-N", "--print-labels", "--output-on-failure"):
        arguments.add_argument(option, action="store_true")
    parsed = arguments.parse_args(words)
    presets = json.loads(sources("CMakePresets.json").read_text())["testPresets"]
    require(parsed.preset in [preset["name"] for preset in presets if not preset.get("hidden")], f"no preset {parsed.preset}")
    tables = "".join(file.read_text() for file in sources("tests").rglob("tests.txt"))
    lists = "".join(file.read_text() for folder in ("tests", "bench") for file in sources(folder).rglob("CMakeLists.txt"))
    for label in (parsed.L, parsed.LE):
        if label is not None:
            name = label.strip("^$")
            require(re.search(rf"LABELS [\w\"; ]*{name}\b", lists) or re.search(rf"\blabel={name}\b", tables), f"no test has the label {label}")
    build = next((folder for folder in prefix().parents if (folder / "CTestTestfile.cmake").exists() and (folder / "CMakeCache.txt").exists()), None)
    if parsed.R is not None and build is not None:
        listed = subprocess.run(["ctest", "--test-dir", build, "-N", "-R", parsed.R], env=os.environ | {"PATH": real_path()}, capture_output=True, text=True, check=True)
        require(not listed.stdout.rstrip().endswith("Total Tests: 0"), f"no test is called {parsed.R}")


def real_path() -> str:
    """PATH without the commands that stand for others."""
    return ":".join(folder for folder in os.environ["PATH"].split(":") if folder != os.environ["DOCS_COMMANDS"])


# ---- packages and administrators ------------------------------------------------------------------


@checks("sudo")
def sudo(words: Words) -> None:
    start(words)


@checks("apt-get")
def apt_get(words: Words) -> None:
    arguments = parser("apt-get")
    arguments.add_argument("-y", action="store_true")
    arguments.add_argument("--no-install-recommends", action="store_true")
    arguments.add_argument("verb", choices=["install", "update", "source"])
    arguments.add_argument("packages", nargs="*")
    parsed = arguments.parse_intermixed_args(words)
    known = " ".join(re.findall(r"_packages=\(([^)]*)\)", sources("dev").read_text())).split()
    require(parsed.packages or parsed.verb == "update", "no package")
    for package in parsed.packages:
        if parsed.verb == "source":
            require(re.fullmatch(r"[a-z0-9.+-]+", package), f"no name of a package: {package}")
            make_program(pathlib.Path(f"{package}-0", "configure"), os.environ["DOCS_PYTHON"], "-B", __file__, "configure")
        elif package.startswith("./"):
            require(re.fullmatch(r"\./build/deb/sorrel_\S*\.deb", package), f"no preset makes {package}")
        else:
            require(package in known, f"./dev does not know the package {package}")


@checks("configure")
def configure(words: Words) -> None:
    """The script of a package by autotools: leaves a makefile, for the prefix that it names."""
    arguments = parser("configure")
    arguments.add_argument("--prefix", required=True)
    for option in ("--enable-parallel", "--disable-static", "--disable-tests", "--disable-tools"):
        arguments.add_argument(option, action="store_true")
    arguments.add_argument("variables", nargs="*")
    parsed = arguments.parse_intermixed_args(words)
    for variable in parsed.variables:
        name, _, compiler = variable.partition("=")
        require(name == "CC" and shutil.which(compiler), f"no compiler: {variable}")
    pathlib.Path("Makefile").write_text(f"prefix={parsed.prefix}\n")


@checks("make")
def make(words: Words) -> None:
    arguments = parser("make")
    arguments.add_argument("-j", type=int)
    arguments.add_argument("target", nargs="?", choices=["install"])
    makefile = pathlib.Path("Makefile")
    require(makefile.is_file(), "no makefile")
    if arguments.parse_args(words).target == "install":
        pathlib.Path(makefile.read_text().partition("=")[2].strip()).mkdir(parents=True)


@checks("install")
def install(words: Words) -> None:
    """A folder that the library looks for, with the mode that it demands."""
    arguments = parser("install")
    arguments.add_argument("-d", action="store_true", required=True)
    arguments.add_argument("-m", required=True)
    arguments.add_argument("folder", type=pathlib.Path)
    parsed = arguments.parse_args(words)
    code = "".join(file.read_text() for folder in ("governor", "os") for file in sources("src", folder).rglob("*.[ch]pp"))
    require(parsed.folder.is_absolute() and parsed.folder.parent.is_dir(), f"{parsed.folder.parent} is no folder")
    require(f'"{parsed.folder}"' in code, f"the library does not look for {parsed.folder}")
    require(f"== 0{parsed.m};" in code, f"the library does not demand the mode {parsed.m}")


@checks("git")
def git(words: Words) -> None:
    """A clone is a folder with links to the sources."""
    arguments = parser("git")
    arguments.add_argument("verb", choices=["clone"])
    arguments.add_argument("url")
    arguments.add_argument("folder", type=pathlib.Path)
    parsed = arguments.parse_args(words)
    parsed.folder.mkdir()
    for entry in sources().iterdir():
        if entry.name not in ("build", ".git"):
            (parsed.folder / entry.name).symlink_to(entry)


@checks("podman")
def podman(words: Words) -> None:
    """An image that was built is a folder; what runs in it runs here."""
    require(words, "no command")
    arguments = parser("podman " + words[0])
    if words[0] == "build":
        arguments.add_argument("-f", required=True, type=pathlib.Path)
        arguments.add_argument("-t", required=True)
        arguments.add_argument("context", type=pathlib.Path)
        parsed = arguments.parse_args(words[1:])
        require(parsed.f.is_file() and parsed.context.is_dir(), f"no file {parsed.f}")
        pathlib.Path("images", parsed.t).mkdir(parents=True)
    elif words[0] == "run":
        arguments.add_argument("--rm", action="store_true")
        arguments.add_argument("-v", required=True)
        arguments.add_argument("image")
        arguments.add_argument("command", nargs=argparse.REMAINDER)
        parsed = arguments.parse_args(words[1:])
        here, _, there = parsed.v.partition(":")
        require(pathlib.Path("images", parsed.image).is_dir(), f"no image {parsed.image}")
        require(pathlib.Path(here).is_dir(), f"no folder {here}")
        require(f"\nWORKDIR {there}\n" in sources("packaging/container/Containerfile").read_text(), f"the image does not work in {there}")
        start(parsed.command)
    else:
        raise Wrong(f"podman {words[0]} is not used here")


@checks("spack")
def spack(words: Words) -> None:
    """The repository and the recipe with this version are in the sources."""
    if words[:2] == ["repo", "add"]:
        require(len(words) == 3 and pathlib.Path(words[2], "repo.yaml").is_file(), f"no repository of Spack: {words[2:]}")
    elif words[:1] == ["dev-build"] and len(words) == 2:
        name, _, version = words[1].partition("@")
        recipe = sources("packaging/spack/packages", name, "package.py")
        require(recipe.is_file() and f'version("{version}")' in recipe.read_text(), f"no recipe of {words[1]}")
    else:
        raise Wrong(f"spack {words} is not used here")


@checks("rattler-build")
def rattler_build(words: Words) -> None:
    arguments = parser("rattler-build")
    arguments.add_argument("verb", choices=["build"])
    arguments.add_argument("--recipe", required=True, type=pathlib.Path)
    recipe = arguments.parse_args(words).recipe
    require(recipe.is_file(), f"no file {recipe}")
    interpreter = sources(".venv/bin/python")
    if interpreter.exists():
        status = subprocess.run([interpreter, "-B", sources("tests/install/check_recipe.py"), recipe], check=False).returncode
        require(status in (0, 77), f"{recipe} is wrong")


# ---- launchers, and tools that start a program or read what one has written ------------------------


@checks("mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.mpich")
def launcher(words: Words) -> None:
    """Starts one process, which is a whole job without its launcher."""
    arguments = parser("mpiexec")
    arguments.add_argument("-n", type=int, required=True)
    arguments.add_argument("-ppn", type=int)
    arguments.add_argument("--bind-to", choices=["none", "core"])
    arguments.add_argument("--oversubscribe", action="store_true")
    arguments.add_argument("command", nargs=argparse.REMAINDER)
    start(arguments.parse_args(words).command)


@checks("mpicc.openmpi")
def other_compiler(words: Words) -> None:
    """Compiles for the standard ABI, with the options that all compilers have."""
    subprocess.run([prefix("bin", "sorrel"), "cc", *words], check=True)


@checks("srun")
def srun(words: Words) -> None:
    """Starts one process, as launcher() does, with the options of srun."""
    arguments = parser("srun")
    arguments.add_argument("-N", type=int)
    arguments.add_argument("-n", type=int, required=True)
    arguments.add_argument("-K", action="store_true")
    arguments.add_argument("--mpi", choices=["pmi2", "pmix"], required=True)
    arguments.add_argument("command", nargs=argparse.REMAINDER)
    start(arguments.parse_args(words).command)


@checks("perf")
def perf(words: Words) -> None:
    require(words, "no command")
    if words[0] == "record":
        arguments = parser("perf record")
        arguments.add_argument("-g", action="store_true")
        arguments.add_argument("command", nargs=argparse.REMAINDER)
        parsed = arguments.parse_args(words[1:])
        pathlib.Path("perf.data").touch()
        start(parsed.command)
    require(words == ["report"] and pathlib.Path("perf.data").exists(), "report reads what record has written")


@checks("valgrind")
def valgrind(words: Words) -> None:
    arguments = parser("valgrind")
    arguments.add_argument("-q", action="store_true")
    arguments.add_argument("--log-file")
    arguments.add_argument("command", nargs=argparse.REMAINDER)
    start(arguments.parse_args(words).command)


@checks("grep")
def grep(words: Words) -> None:
    """Searches what a command would have written that is checked itself."""
    arguments = parser("grep")
    for option in ("-h", "-q", "-i"):
        arguments.add_argument(option, action="store_true")
    arguments.add_argument("pattern")
    arguments.add_argument("files", nargs="+")
    arguments.parse_args(words)


@checks("gdb")
def gdb(words: Words) -> None:
    """Reads commands at its prompt; `run` runs the program, and commands of the helper are those that it registers."""
    arguments = parser("gdb")
    arguments.add_argument("-p", type=int)
    arguments.add_argument("--args", nargs=argparse.REMAINDER)
    parsed = arguments.parse_args(words)
    require(parsed.p or parsed.args, "no program and no process")
    while True:
        try:
            line = input("(gdb) ").split()
        except EOFError:
            return
        if line[:1] == ["quit"]:
            return
        if line[:1] == ["run"]:
            subprocess.run(parsed.args, check=False, close_fds=False)
        elif line[:1] == ["source"]:
            require(pathlib.Path(line[1]).expanduser().is_file(), f"no file {line[1]}")
        else:
            require(line[:1] in (["bt"], ["break"], ["print"], ["sorrel"]), f"gdb has no command {line}")


@checks("otf2-print")
def otf2_print(words: Words) -> None:
    require(len(words) == 1 and words[0].endswith("/traces.otf2"), "otf2-print reads the file traces.otf2 of an archive")


@checks("pkg-config")
def pkg_config(words: Words) -> None:
    """The flags of the wrappers, for a package whose file is there."""
    arguments = parser("pkg-config")
    arguments.add_argument("--cflags", action="store_true")
    arguments.add_argument("--libs", action="store_true")
    arguments.add_argument("package")
    parsed = arguments.parse_args(words)
    require(pathlib.Path(os.environ["PKG_CONFIG_PATH"], f"{parsed.package}.pc").is_file(), f"no package {parsed.package}")
    for wanted, question in ((parsed.cflags, "-showme:compile"), (parsed.libs, "-showme:link")):
        if wanted:
            subprocess.run([prefix("bin", "sorrel"), "cc", question], check=True)


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    command, words = sys.argv[1], sys.argv[2:]
    check = find(command)
    try:
        require(check, "nothing checks this command")
        check(words)
    except Wrong as wrong:
        print(f"{command}: {wrong}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
