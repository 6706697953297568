#!/usr/bin/env python3
"""composite_action.py ACTION.yml [NAME=VALUE...]

Prints the commands that a composite action of GitHub runs with these inputs, as a script of bash: step by step, as a runner does. What a step adds to
GITHUB_PATH is in PATH of the next ones. Steps that use other actions are an error. Reads the layout of packaging/action/action.yml: values on one line, or
blocks behind `|`.
"""
import pathlib
import re
import shlex
import sys

INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")
ADD_PATHS = 'while read -r added; do PATH=$added:$PATH; done <"$GITHUB_PATH"; : >"$GITHUB_PATH"'


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def section(lines: list[str], name: str) -> list[str]:
    """The lines below `name:`, to the next one that is not deeper."""
    begin = next((number for number, line in enumerate(lines) if line.strip() == f"{name}:"), None)
    if begin is None:
        return []
    end = begin + 1
    while end < len(lines) and (not lines[end].strip() or indent_of(lines[end]) > indent_of(lines[begin])):
        end += 1
    return lines[begin + 1:end]


def value_of(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def pairs(lines: list[str]) -> dict[str, str]:
    """NAME: VALUE of the outermost of these lines."""
    least = min((indent_of(line) for line in lines if line.strip()), default=0)
    found = [re.fullmatch(r" *([\w-]+): *(.*)", line) for line in lines if indent_of(line) == least]
    return {match[1]: value_of(match[2]) for match in found if match}


def inputs_of(lines: list[str], given: dict[str, str]) -> dict[str, str]:
    part = section(lines, "inputs")
    names = list(pairs(part))
    unknown = set(given) - set(names)
    if unknown:
        sys.exit(f"the action has no input {', '.join(sorted(unknown))}")
    return {name: given.get(name, pairs(section(part, name)).get("default", "")) for name in names}


def steps_of(lines: list[str]) -> list[list[str]]:
    steps: list[list[str]] = []
    for line in section(lines, "steps"):
        if line.lstrip().startswith("- "):
            steps.append([])
            line = line.replace("- ", "  ", 1)
        steps[-1].append(line)
    return steps


def command_of(step: list[str], inputs: dict[str, str]) -> str | None:
    """None: the step's condition does not hold."""
    fields = pairs(step)
    if "run" not in fields or fields.get("shell") != "bash":
        sys.exit(f"a step that is not for bash: {step}")
    condition = re.fullmatch(r"inputs\.(\w+) != '(\w*)'", fields["if"]) if "if" in fields else None
    if "if" in fields and not condition:
        sys.exit(f"a condition of another form: {fields['if']}")
    if condition and inputs[condition[1]] == condition[2]:
        return None

    def insert(text: str) -> str:
        return INPUT.sub(lambda match: inputs[match[1]], text)

    command = insert(fields["run"])
    if command == "|":
        begin = next(number for number, line in enumerate(step) if line.strip() == "run: |")
        block = [line for line in step[begin + 1:] if indent_of(line) > indent_of(step[begin])]
        command = "\n".join(line.strip() for line in block)
    variables = [f"export {name}={shlex.quote(insert(value))}" for name, value in pairs(section(step, "env")).items()]
    return "\n".join(["(set -e -o pipefail", *variables, command, ")"])


def commands_of(text: str, given: dict[str, str]) -> list[str]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    inputs = inputs_of(lines, given)
    commands = [command for step in steps_of(lines) if (command := command_of(step, inputs)) is not None]
    return [part for command in commands for part in (command, ADD_PATHS)]


if __name__ == "__main__":
    path, *arguments = sys.argv[1:]
    print('set -e\nexport GITHUB_PATH=${GITHUB_PATH:-$(mktemp)} RUNNER_TEMP=${RUNNER_TEMP:-$(mktemp -d)}')
    print(*commands_of(pathlib.Path(path).read_text(encoding="utf-8"), dict(argument.split("=", 1) for argument in arguments)), sep="\n")
