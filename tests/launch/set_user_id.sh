#!/usr/bin/env bash
# A set-user-ID program ignores its caller's environment, and `run` reports an error: set_user_id.sh SORREL RANKS
# LIBRARIES
set -u
sorrel=$1 ranks=$2 libraries=$3
if [ "$(id -u)" != 0 ] || ! id nobody >/dev/null 2>&1 || ! command -v setpriv >/dev/null; then
  echo "needs root, the user nobody and setpriv"
  exit 77
fi
folder=$(mktemp -d /tmp/sorrel-launch-XXXXXX) && trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
as_nobody() { setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"; }
fail() { printf 'FAILED: %s\n' "$@"; exit 1; }
# The library is found by RUNPATH, in a folder that all users may read.
cp -L "$libraries/libmpi_abi.so.1" "$folder/" || fail "copy"
cp "$ranks" "$folder/plain" && chmod 755 "$folder/plain" "$folder/libmpi_abi.so.1"
cc=$(command -v gcc || command -v cc) || { echo "needs a compiler"; exit 77; }
printf 'int MPI_Init(void*, void*);\nint MPI_Finalize(void);\nint MPI_Comm_size(void*, int*);\nint puts(const char*);\n%s\n' \
  'int main(int c, char** v) { int n = 0; MPI_Init(&c, &v); MPI_Comm_size((void*)0x101, &n); puts(n == 1 ? "alone" : "many"); return MPI_Finalize(); }' \
  >"$folder/p.c"
"$cc" -fPIE -pie "$folder/p.c" -o "$folder/other" "$folder/libmpi_abi.so.1" -Wl,-rpath,"$folder" || fail "compile"
chmod 4755 "$folder/other"
as_nobody "$folder/other" >"$folder/out" 2>&1
[ "$(cat "$folder/out")" = alone ] || { cat "$folder/out"; echo "set-user-ID programs do not run here"; exit 77; }
# A plug-in that would print a line.
printf '#include <unistd.h>\n__attribute__((constructor)) static void f(void) { (void)!write(2, "injected\\n", 9); }\n' >"$folder/e.c"
"$cc" -shared -fPIC "$folder/e.c" -o "$folder/libsorrel-host-evil.so" || fail "compile"
# The seal is not secret: use the text of a real job, and one that names the plug-in.
real=$("$sorrel" run -n 2 --workers 1 env | grep '^SORREL_JOB=') || fail "no job in the environment"
evil="ranks=2:workers=1:processes=1:host=evil:host_plugin=$folder/libsorrel-host-evil.so:"
seal=$(python3 - "$evil" <<'SEAL'
import sys
hash = 0xcbf29ce484222325
for byte in sys.argv[1].encode():
    hash = (hash ^ byte) * 0x100000001b3 % 2**64
print(f"{hash:016x}")
SEAL
) || { echo "needs python3"; exit 77; }
for job in "$real" "SORREL_JOB=${evil}seal=$seal" "SORREL_JOB=ranks=2:seal=0123456789abcdef"; do
  as_nobody env "$job" SORREL_SHARE=x "$folder/other" >"$folder/out" 2>&1 || fail "status $?" "$(cat "$folder/out")"
  [ "$(cat "$folder/out")" = alone ] || fail "$(cat "$folder/out")"
done
# A program without other rights obeys this job.
as_nobody env "SORREL_JOB=${evil}seal=$seal" "$folder/plain" >"$folder/out" 2>&1
grep -q injected "$folder/out" || fail "the plug-in of the job was not loaded" "$(cat "$folder/out")"
# A program that cannot get the job's variables is an error. Root's own program has no other rights when root runs it.
chown nobody "$folder/other" && chmod 4755 "$folder/other"
for words in "" env; do
  "$sorrel" run -n 2 $words "$folder/other" >"$folder/out" 2>&1
  [ $? = 2 ] && grep -q "^sorrel: $folder/other runs with privileges that you lack" "$folder/out" ||
    fail "run $words" "$(cat "$folder/out")"
done
exit 0
