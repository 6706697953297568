#!/usr/bin/env bash
# `sorrel test`: what passes, what fails, what is found, its files and its status. usage: test_command.sh SORREL SCHEDULES LEAKS PYTHON
set -euo pipefail
sorrel=$1 schedules=$2 leaks=$3 python=$4

fail() {
  echo "$1"
  cat output
  exit 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir temporary source
export TMPDIR=$folder/temporary
echo >source/schedules.c

# expect STATUS NAME ARGUMENTS...: runs `sorrel test`, whose output lies in `output`
expect() {
  local status=0
  "$sorrel" test "${@:3}" >output 2>&1 || status=$?
  [ "$status" = "$1" ] || fail "$2: exit status $status instead of $1"
  [ -z "$(ls temporary)" ] || fail "$2: a folder is left behind"
}

expect 0 "a correct program" -n 3,8 --few 3 --schedules 4 "$schedules" right
for line in '3 ranks ' '8 ranks ' '8 ranks, a slow network' '3 ranks, checked' '3 ranks, 4 schedules'; do
  grep -q "^  ok  *$line" output || fail "no line '$line'"
done
grep -q '^sorrel: test: 0 of 5 runs failed, 0 findings$' output || fail "no sum"

expect 66 "an object that is not freed" -n 4 --only ranks,check --junit junit.xml --sarif check.sarif "$leaks" communicator-dup
grep -q '^  ok  *4 ranks ' output || fail "the plain run passes"
grep -q '^  found  *4 ranks, checked .*1 finding$' output || fail "the check has a finding"
grep -q "repeat: sorrel run -n 4 --check $leaks communicator-dup" output || fail "no command that repeats it"
"$python" - <<'END' || fail "a file is not as it should be"
import json
import xml.etree.ElementTree as tree

run = json.load(open("check.sarif"))["runs"][0]
assert run["tool"]["driver"]["name"] == "sorrel test"
assert [result["ruleId"] for result in run["results"]] == ["leak-communicator"]
suite = tree.parse("junit.xml").getroot().find("testsuite")
assert (suite.get("tests"), suite.get("failures")) == ("3", "1"), suite.attrib
assert [case.get("name") for case in suite][0] == "4 ranks"
END

# The deadlock is a failure of its run, with the lines of the ranks that wait.
expect 1 "a deadlock in every order" -n 3 --only ranks --junit junit.xml --sarif hang.sarif "$schedules" hang
grep -q '^  FAILED  *3 ranks .*exit status 3, a deadlock$' output || fail "the deadlock is not named"
"$python" - <<'END' || fail "a file of a deadlock is not as it should be"
import json
import xml.etree.ElementTree as tree

result, = json.load(open("hang.sarif"))["runs"][0]["results"]
place = result["locations"][0]["physicalLocation"]
assert result["ruleId"] == "deadlock" and place["artifactLocation"]["uri"] == "source/schedules.c" and place["region"]["startLine"] > 0, result
suite = tree.parse("junit.xml").getroot().find("testsuite")
assert (suite.get("tests"), suite.get("failures")) == ("1", "1"), suite.attrib
assert "MPI_Recv" in suite.find("testcase/failure").text
END

# A program's own status that is that of deadlocks is none.
expect 1 "the status 3 of a program" -n 3 --only ranks "$schedules" fails 3
grep -q '^  FAILED  *3 ranks .*exit status 3$' output || fail "a status is called a deadlock"

expect 66 "an order that fails" -n 3 --only schedules --schedules 24 "$schedules" wrong
grep -q -- '--seed' output || fail "no seed of the order that fails"
expect 1 "another status" -n 2 --only ranks "$leaks" no-such-case
grep -q 'exit status 1$' output || fail "the status is not named"
expect 1 "a run that does not end" -n 3 --only ranks --timeout 1s "$schedules" spin
grep -q 'had not ended after 1 s$' output || fail "the limit is not named"
grep -q 'rank' output || fail "what the ranks did is not shown"
expect 1 "a status that no order changes" -n 3 --only schedules --schedules 3 "$schedules" fails
grep -q 'exit status 4$' output || fail "the status of all schedules is not named"
expect 1 "a file that cannot be written" -n 3 --only ranks --junit /no/such/folder/junit.xml "$schedules" right
grep -q 'cannot be written' output || fail "the file is not named"

# refuse PATTERN ARGUMENTS...: one line, and nothing is started
refuse() {
  expect 2 "$1" "${@:2}"
  [ "$(wc -l <output)" = 1 ] && grep -q "^sorrel: .*$1" output || fail "no line '$1'"
}
refuse 'no program given' -n 2
refuse 'no such program' ./nowhere
refuse 'is not executable' source/schedules.c
refuse "not 'x'" -n x "$schedules"
refuse 'at least 2 ranks' -n 1 "$schedules"
echo "test: passed, failed, found, refused"
