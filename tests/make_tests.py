#!/usr/bin/env python3
"""Writes the add_test() statements of a folder's table: make_tests.py TABLE VALUES OUTPUT

For sorrel_tests() (cmake/SorrelModule.cmake). TABLE is a file tests.txt, whose form tests/README.md describes. VALUES has lines NAME=VALUE
with what CMake knows; a semicolon separates the words of a list. An error is one line: the file, the line, what is wrong.
"""
import re
import sys
from pathlib import Path

# What a `with` line sets: the key, and the property of CTest. Each env= adds a variable; other keys replace the value outside.
properties = {"label": "LABELS", "timeout": "TIMEOUT", "env": "ENVIRONMENT", "skip": "SKIP_RETURN_CODE", "serial": "RUN_SERIAL", "cost": "COST",
              "processors": "PROCESSORS", "pass": "PASS_REGULAR_EXPRESSION", "after": "DEPENDS", "setup": "FIXTURES_SETUP",
              "requires": "FIXTURES_REQUIRED"}
keys = ["prefix", "folder", *properties]
heads = ("for", "if", "else", "with", "form")
statements = (*heads, "let", "make", "test")
depth_max = 20
# Characters that stand for a dollar and a star that are to be taken literally.
dollar, star = "\ue000", "\ue001"
false_in_cmake = re.compile(r"(0|OFF|NO|FALSE|N|IGNORE|NOTFOUND|.*-NOTFOUND|)", re.IGNORECASE)
# A part of a word: a quoted text, a name or a sum whose blanks do not divide, an escaped character, another one.
part_of_word = re.compile(r"""'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<name>\$\{[^{}]*\}|\$\(\(.*?\)\))|\\(?P<escaped>.)|(?P<plain>[^\s'"])""")


class TableError(Exception):
    """What is wrong in which line."""

    def __init__(self, line, text):
        super().__init__(text)
        self.line = line


class Word:
    """One word of a statement: its quotes are resolved, its names are not replaced."""

    def __init__(self, text, quoted, ends_block):
        self.text, self.quoted, self.ends_block = text, quoted, ends_block


class Statement:
    """The words of a line, and the statements below it if it ends with ':'."""

    def __init__(self, line, words, is_head):
        self.line, self.words, self.is_head, self.block = line, words, is_head, []


def literal(text):
    return text.replace("$", dollar).replace("*", star)


def split_words(text, line):
    """The words of a text, divided as a POSIX shell does: quotes, backslashes, and a comment after a blank and #."""
    words, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if text[at] == "#":
            break
        content, quoted, last = "", False, None
        while at < len(text) and not text[at].isspace():
            last = part_of_word.match(text, at)
            if not last:
                raise TableError(line, f"a {text[at]} has no partner")
            if last["single"] is not None:
                content += literal(last["single"])
            elif last["double"] is not None:
                content += re.sub(r'\\([\\"$])', lambda found: literal(found[1]), last["double"]).replace("*", star)
            else:
                content += literal(last["escaped"]) if last["escaped"] else last[0]
            quoted = quoted or last.lastgroup in ("single", "double")
            at = last.end()
        words.append(Word(content, quoted, last["plain"] == ":"))
    return words


def logical_lines(text):
    """Lines with their numbers and indentation. A line that is indented more than the one above continues it, unless that one ends with ':'."""
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        content = raw.strip()
        if not content or content.startswith("#"):
            continue
        indent = len(raw) - len(raw.lstrip())
        if "\t" in raw[:indent]:
            raise TableError(number, "a tab at the beginning of a line; use blanks")
        if lines and indent > lines[-1][1] and not is_head(lines[-1][2], number):
            lines[-1][2] += " " + content
        else:
            lines.append([number, indent, content])
    return lines


def is_head(content, line):
    words = split_words(content, line)
    return bool(words) and words[0].text.rstrip(":") in heads and words[-1].ends_block


def read_statements(text):
    root = Statement(0, [], True)
    blocks = [(-1, root)]  # indentation of the line above a block, and that line
    for number, indent, content in logical_lines(text):
        while blocks[-1][0] >= indent:
            blocks.pop()
        above = blocks[-1][1]
        if above.block and above.block_indent != indent or not above.is_head or (above is root and indent):
            raise TableError(number, "the indentation matches no line above")
        above.block_indent = indent
        statement = Statement(number, split_words(content, number), is_head(content, number))
        if statement.is_head:
            statement.words[-1].text = statement.words[-1].text[:-1]
            if not statement.words[-1].text:
                statement.words.pop()
        above.block.append(statement)
        blocks.append((indent, statement))
    check_blocks(root.block)
    return root.block


def check_blocks(block):
    for statement in block:
        kind = statement.words[0].text
        if statement.is_head and not statement.block:
            raise TableError(statement.line, "nothing is indented below this line")
        if kind in heads and kind != "with" and not statement.is_head:
            raise TableError(statement.line, f"a line '{kind}' ends with ':'")
        check_blocks(statement.block)


def all_statements(block):
    for statement in block:
        yield statement
        yield from all_statements(statement.block)


def check_names(block):
    """Whatever CMake has: what a block uses whose condition does not hold is used, too."""
    whole = list(all_statements(block))
    used = {statement.words[0].text for statement in whole}
    used.update(name for statement in whole for word in statement.words for name in re.findall(r"\$\{([^{}]+)\}", word.text))
    used.update(word.text for statement in whole if statement.words[0].text == "if" for word in statement.words)
    for statement in whole:
        if statement.words[0].text in ("let", "form") and len(statement.words) > 1 and statement.words[1].text not in used:
            raise TableError(statement.line, f"'{statement.words[1].text}' is not used")


class Scope:
    """Names with their lists of words, and what `with` lines have set. The block of a `for`, `with` or `form` has a copy."""

    def __init__(self, outer=None):
        self.names = dict(outer.names) if outer else {"newline": ["\n"]}
        self.settings = {key: list(values) for key, values in outer.settings.items()} if outer else {}


class Table:
    """The tests of a table, its calls of functions that make programs, and its patterns of files."""

    def __init__(self, text, values, folder):
        self.tests, self.calls, self.patterns = {}, [], []
        self.folder = Path(folder)
        self.forms, self.line, self.depth = {}, 0, 0
        scope = Scope()
        scope.names.update({name: [part for part in value.split(";") if part] for name, value in values.items()})
        block = read_statements(text)
        check_names(block)
        self.run_block(block, scope)

    def fail(self, text):
        raise TableError(self.line, text)

    # Words

    def value_of(self, name, scope):
        if name not in scope.names:
            self.fail(f"unknown name '{name}'")
        return scope.names[name]

    def expand(self, word, scope):
        """The words that a word stands for: several, or none, if it is the name of a list and nothing else."""
        whole = re.fullmatch(r"\$\{([^{}]+)\}", word.text)
        if whole and not word.quoted:
            return self.value_of(whole[1], scope)

        def value(match):
            words = self.value_of(match[1], scope)
            if len(words) > 1 and not word.quoted:
                self.fail(f"'{match[1]}' is {len(words)} words: write it in quotes, or as a word of its own")
            return " ".join(words)
        text = re.sub(r"\$\{([^{}]+)\}", value, word.text)
        text = re.sub(r"\$\(\((.*?)\)\)", lambda match: self.number(match[1]), text)
        return [re.sub(r"\$<(\w+)>", r"$<TARGET_FILE:\1>", text)]

    def number(self, text):
        if not re.fullmatch(r"\s*\d+(\s*[+*%-]\s*\d+)*\s*", text):
            self.fail(f"$(({text})): only whole numbers, + - * and %")
        return str(eval(text))

    def expand_all(self, words, scope):
        return [text for word in words for text in self.expand(word, scope)]

    # Statements

    def run_block(self, block, scope):
        condition = None
        for statement in block:
            self.line = statement.line
            kind, arguments = statement.words[0].text, statement.words[1:]
            last_condition, condition = condition, None
            if kind == "if":
                condition = self.holds(arguments, scope)
                if condition:
                    self.run_block(statement.block, scope)
            elif kind == "else":
                if last_condition is None:
                    self.fail("'else' without 'if'")
                if not last_condition:
                    self.run_block(statement.block, scope)
            elif kind == "for":
                self.repeat(statement, arguments, scope)
            elif kind == "with":
                inner = Scope(scope) if statement.is_head else scope
                self.set_properties(arguments, inner)
                self.run_block(statement.block, inner)
            elif kind == "form":
                self.define(statement)
            elif kind == "let":
                self.let(arguments, scope)
            elif kind == "make":
                self.make(arguments, scope)
            elif kind == "test":
                self.add_test(arguments, scope)
            elif kind in self.forms:
                self.fill(kind, arguments, scope)
            else:
                self.fail(f"'{kind}' is no form of this table, nor one of {', '.join(statements)}")

    def let(self, arguments, scope):
        if len(arguments) < 2 or arguments[1].text != "=":
            self.fail("let NAME = WORDS...")
        scope.names[arguments[0].text] = self.expand_all(arguments[2:], scope)

    def set_properties(self, arguments, scope):
        fresh = {}
        for text in self.expand_all(arguments, scope):
            key, equals, value = text.partition("=")
            if key not in keys or not equals:
                self.fail(f"'{text}' is not KEY=VALUE with a key of {', '.join(keys)}")
            if key == "env":
                scope.settings.setdefault(key, []).append(value)
            else:
                fresh.setdefault(key, []).append(value)
        scope.settings.update(fresh)

    def define(self, statement):
        if len(statement.words) < 2:
            self.fail("form NAME PARAMETERS...:")
        name, *parameters = (word.text for word in statement.words[1:])
        if name in self.forms or name in statements:
            self.fail(f"'{name}' exists already")
        if any(parameter.endswith("...") for parameter in parameters[:-1]):
            self.fail("only the last parameter may take several words")
        self.forms[name] = (parameters, statement.block)

    def fill(self, name, arguments, scope):
        """Tests of a form are found where it is filled; an error is found in the form itself."""
        parameters, block = self.forms[name]
        words = self.expand_all(arguments, scope)
        takes_more = bool(parameters) and parameters[-1].endswith("...")
        needed = parameters[:-1] if takes_more else parameters
        if len(words) < len(needed) or (len(words) > len(needed) and not takes_more):
            self.fail(f"'{name}' takes {' '.join(parameters)}, not {len(words)} words")
        if self.depth == depth_max:
            self.fail(f"'{name}' contains itself")
        inner = Scope(scope)
        inner.names.update({parameter: [word] for parameter, word in zip(needed, words)})
        if takes_more:
            inner.names[parameters[-1][:-3]] = words[len(needed):]
        line, earlier = self.line, len(self.tests)
        self.depth += 1
        self.run_block(block, inner)
        self.depth -= 1
        self.line = line
        for test in list(self.tests.values())[earlier:]:
            test["line"] = line

    def repeat(self, statement, arguments, scope):
        texts = [word.text for word in arguments]
        if "in" not in texts:
            self.fail("for NAMES in ITEMS:")
        at = texts.index("in")
        counter, _, pattern = " ".join(texts[:at]).rpartition(", ")
        # A name, whether it takes several words, and what separates it from the next one.
        names = re.findall(r"(\w+)(\.\.\.)?([:/.]?)", pattern)
        for index, item in enumerate(self.items(arguments[at + 1:], scope)):
            inner = Scope(scope)
            if counter:
                inner.names[counter] = [str(index)]
            rest = item
            for name, is_list, separator in names:
                part, found, rest = rest.partition(separator) if separator else (rest, "", "")
                if separator and not found:
                    self.fail(f"'{item}' is not {pattern}")
                inner.names[name] = part.split() if is_list else [part]
            self.run_block(statement.block, inner)
            self.line = statement.line

    def items(self, words, scope):
        for word in words:
            for text in self.expand(word, scope):
                numbers = re.fullmatch(r"(\d+)\.\.(\d+)", text)
                if numbers:
                    yield from map(str, range(int(numbers[1]), int(numbers[2]) + 1))
                elif "*" in text and "$" not in word.text:
                    yield from self.files(text)
                else:
                    yield text

    def files(self, pattern):
        self.patterns.append(pattern)
        paths = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob(pattern))
        if not paths:
            self.fail(f"no file matches '{pattern}'")
        return paths

    def holds(self, arguments, scope):
        texts = [word.text for word in arguments]
        if "in" in texts:
            at = texts.index("in")
            negated = texts[at - 1] == "not"
            left = " ".join(self.expand_all(arguments[:at - negated], scope))
            return (left in self.expand_all(arguments[at + 1:], scope)) != negated
        negated = texts[:1] == ["not"]
        if len(texts) != 1 + negated:
            self.fail("if [not] NAME: or if WORD [not] in WORDS...:")
        return (not false_in_cmake.fullmatch(";".join(self.value_of(texts[-1], scope)))) != negated

    def make(self, arguments, scope):
        words = self.expand_all(arguments, scope)
        if not words:
            self.fail("make FUNCTION WORDS...")
        self.calls.append({"words": words, "line": self.line})

    def add_test(self, arguments, scope):
        words = self.expand_all(arguments, scope)
        if len(words) < 2:
            self.fail("test NAME COMMAND...")
        settings = scope.settings
        name = settings.get("prefix", [""])[-1] + words[0]
        if name in self.tests:
            self.fail(f"test '{name}' exists already, at line {self.tests[name]['line']}")
        values = {key: ";".join(filter(None, settings.get(key, []))) for key in properties}
        self.tests[name] = {"command": words[1:], "folder": settings.get("folder", [""])[-1], "line": self.line,
                            "properties": {properties[key]: value for key, value in values.items() if value}}


def in_brackets(text):
    """An argument of CMake that stands for the text as it is, but for generator expressions."""
    text = text.replace(dollar, "$").replace(star, "*")
    equals = "="
    while f"]{equals}]" in text + "]":
        equals += "="
    newline = "\n" if text.startswith("\n") else ""
    return f"[{equals}[{newline}{text}]{equals}]"


def cmake_of(table, path):
    lines = [f"# Made by make_tests.py from {path}"]
    # A new file of such a name is a reason to configure again.
    lines += [f"file(GLOB unused CONFIGURE_DEPENDS {table.folder}/{pattern})" for pattern in table.patterns]
    for call in table.calls:
        function, *words = call["words"]
        lines += [f"# Line {call['line']}", f"{function}({' '.join(map(in_brackets, words))})"]
    for name, test in table.tests.items():
        folder = f" WORKING_DIRECTORY {in_brackets(test['folder'])}" if test["folder"] else ""
        lines += [f"# Line {test['line']}", f"add_test(NAME {in_brackets(name)} COMMAND {' '.join(map(in_brackets, test['command']))}{folder})"]
        values = " ".join(f"{key} {in_brackets(value)}" for key, value in test["properties"].items())
        if values:
            lines.append(f"set_tests_properties({in_brackets(name)} PROPERTIES {values})")
    return "\n".join(lines) + "\n"


def main(path, values_path, output):
    values = dict(line.split("=", 1) for line in Path(values_path).read_text().splitlines())
    try:
        table = Table(Path(path).read_text(), values, Path(path).parent)
    except TableError as error:
        sys.exit(f"{path}:{error.line}: {error}")
    Path(output).write_text(cmake_of(table, path))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
