#!/usr/bin/env bash
# Files that a check writes: SARIF, JSON, JUnit; refusals; and a program without errors. usage: reports.sh SORREL LEAKS PYTHON
set -euo pipefail
sorrel=$1
program=$2
python=$3

fail() {
  echo "$1"
  cat output
  exit 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir source temporary
export TMPDIR=$folder/temporary
echo > source/leaks.c

status=0
"$sorrel" run -n 2 --check-sarif check.sarif --check-json check.json --junit junit.xml "$program" communicator-dup > output 2>&1 || status=$?
[ "$status" = 66 ] || fail "exit status $status instead of 66"
grep -q 'sorrel: check: 0 errors, 1 warning$' output || fail "the findings are not counted"
"$python" - <<'END' || fail "a report is not as it should be"
import json
import xml.etree.ElementTree as tree

run = json.load(open("check.sarif"))["runs"][0]
result, = run["results"]
rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
assert result["ruleId"] == rule["id"] == "leak-communicator" and result["level"] == "warning", result
place = result["locations"][0]["physicalLocation"]
assert place["artifactLocation"]["uri"] == "source/leaks.c" and place["region"]["startLine"] > 0, place
finding, = json.load(open("check.json"))["findings"]
assert finding["ranks"] == [0, 1] and finding["call"] == "MPI_Comm_dup" and finding["standard"]["section"], finding
suite = tree.parse("junit.xml").getroot().find("testsuite")
assert (suite.get("tests"), suite.get("failures")) == ("2", "1"), suite.attrib
assert len(suite.findall("testcase/failure")) == 1
END

"$sorrel" run -n 2 --junit junit.xml "$program" > output 2>&1 || fail "a run with --junit alone"
grep -q 'tests="1" failures="0"' junit.xml || fail "a run that passes is no failure"
status=0
"$sorrel" run -n 2 --junit junit.xml "$program" no-such-case > output 2>&1 || status=$?
[ "$status" = 1 ] || fail "the status of the program is lost: $status"
grep -q 'exit status 1' junit.xml || fail "a run that fails is a failure"
status=0
"$sorrel" run -n 2 --junit /no/such/folder/junit.xml "$program" > output 2>&1 || status=$?
[ "$status" = 1 ] || fail "a file that cannot be written: status $status"
grep -q 'cannot be written' output || fail "no line about a file that cannot be written"

refuse() {
  local status=0
  "$sorrel" run "$@" "$program" right > output 2>&1 || status=$?
  [ "$status" = 2 ] || fail "$*: status $status"
  [ "$(wc -l < output)" = 1 ] || fail "$*: not one line"
}
refuse -n 2 --schedules 2 --procs 2
refuse -n 2 --check --trace trace
refuse -n 2 --check --workers 2
refuse -n 2 --check --wire latency=1us
refuse -n 2 --schedules 0
[ -z "$(ls temporary)" ] || fail "a folder is left behind"
echo "reports: written, read, refused"
