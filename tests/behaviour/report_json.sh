#!/usr/bin/env bash
# report_json.sh STATUS CONDITION SORREL [WORDS…]: a job that ends with this status writes a JSON report `r` for which
# CONDITION, an expression of Python, holds; the report of an earlier run is gone even if there is none now (CONDITION -).
set -u
status=$1 condition=$2 sorrel=$3
shift 3
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
echo old >"$folder/report.json"
timeout 100 "$sorrel" run --report-json "$folder/report.json" "$@" >"$folder/out" 2>"$folder/err" <"${STDIN_FROM:-/dev/null}"
got=$?
[ "$got" = "$status" ] || { echo "status $got instead of $status"; cat "$folder/err"; exit 1; }
if [ "$condition" = - ]; then
  [ ! -e "$folder/report.json" ] || { echo "a report of a job without errors"; exit 1; }
  exit 0
fi
python3 - "$folder/report.json" "$condition" "$status" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
r = json.loads(text)
holds = r["version"] == 1 and r["status"] == int(sys.argv[3]) and eval(sys.argv[2])
if not holds:
    sys.exit(f"{sys.argv[2]} does not hold for\n{text}")
END
