#!/bin/sh
# Names that hold control characters reach the terminal, and other reports, escaped, and in their place: names.sh SORREL NAMES_PROGRAM
set -u
sorrel=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "$*"
  cat -v "$folder/err"
  exit 1
}
for how in communicator window datatype file error; do
  timeout 100 "$sorrel" run -n 2 --report-json "$folder/json" "$program" $how > /dev/null 2> "$folder/err"
  status=$?
  [ $status != 0 ] && [ $status != 124 ] || fail "$how: status $status"
  LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2\x9b' "$folder/err" && fail "$how: a control character on the terminal"
  [ $how = window ] || grep -qF 'red\tand\nnew' "$folder/err" || fail "$how: the name is not there"
  LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2\x9b' "$folder/json" && fail "$how: a control character in the report"
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$folder/json" || fail "$how: the report is not JSON"
done
exit 0
