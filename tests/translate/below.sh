#!/bin/sh
# A program of another interface below wrappers, which their arguments name or do not: below.sh SORREL PROGRAM
sorrel=$1 program=$2
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT || exit 1
failed=0
printf '#!/bin/sh\nexec %s "$@"\n' "$program" >"$folder/script" && chmod +x "$folder/script"

# prints WORDS...: one line of 6 ranks.
prints() {
  out=$(timeout 200 "$sorrel" run -n 6 --workers 1 "$@" 2>&1) || failed=1
  [ "$(echo "$out" | grep -cx "sum 55")" = 1 ] && return
  echo "$*: expected one line 'sum 55':"
  echo "$out"
  failed=1
}
prints env "$program"
prints env X=1 sh -c 'exec "$0"' "$program"
prints "$folder/script"
prints --procs 2 "$folder/script"
prints --procs 6 "$folder/script"
# A script that puts the folder of another MPI first.
cat >"$folder/vendor" <<END
#!/bin/sh
export LD_LIBRARY_PATH="$folder/other:\$LD_LIBRARY_PATH"
exec sh -c 'case \$LD_LIBRARY_PATH in $folder/*) exit 3 ;; *:$folder/other) exec "\$0" ;; esac' $program
END
chmod +x "$folder/vendor"
prints "$folder/vendor"
prints --procs 6 "$folder/vendor"
exit $failed
