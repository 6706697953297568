#!/usr/bin/env bash
# help_width.sh SORREL: no line of help is longer than 72 columns.
export LC_ALL=C.UTF-8
status=0
for command in '' run restart info cc cxx fc plan ps top stack trace report bench selftest demo try test env docs; do
  # shellcheck disable=SC2086  # no argument for the empty name
  text=$("$1" help $command) || status=1
  if grep -E '.{73}' <<<"$text"; then status=1; fi
done
exit $status
