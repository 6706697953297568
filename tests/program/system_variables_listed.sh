#!/usr/bin/env bash
# system_variables_listed.sh README: every variable that a program can name of the C library, the loader and the mathematics
# library is in the README's table. A new version of the C library may bring a variable that no row covers.
set -euo pipefail
readme=$1
command -v readelf >/dev/null || exit 77
table=$(grep '^|' "$readme")
missing=()
libraries=$(ldconfig -p | awk '/(libc|libm)\.so\.6 .*x86-64|ld-linux-x86-64\.so\.2 /{print $NF}' | sort -u)
[ -n "$libraries" ] || exit 77
count=0
while read -r name; do
  count=$((count + 1))
  grep -qE "[\`]${name}[\`]" <<<"$table" || missing+=("$name")
done < <(for library in $libraries; do readelf --dyn-syms -W "$library"; done |
  awk '$4 == "OBJECT" && $7 != "ABS" && $7 != "UND" && $8 ~ /@@GLIBC_[0-9]/ {sub(/@.*/, "", $8); print $8}' | sort -u)
if ((count < 40)); then
  echo "only $count variables were found in: $libraries"
  exit 1
fi
if ((${#missing[@]} > 0)); then
  printf 'not in the table of %s: %s\n' "$readme" "${missing[*]}"
  exit 1
fi
echo "$count variables"
