#!/usr/bin/env bash
# A plug-in that a user compiles with an MPI's wrapper: own_plugin.sh HOST SORREL SOURCES PROGRAM. Skips (77) without that wrapper.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
host=$1 sorrel=$2 sources=$3 program=$4
command -v "mpicc.$host" >/dev/null || { echo "skipped: mpicc.$host is not installed"; exit 77; }
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT || exit 1
"mpicc.$host" -shared -fPIC -I "$sources" "$sources/transport/host/plugin/host_plugin.c" -o "$folder/sorrel-host.so" || exit 1
cd "$folder" || exit 1
"$here/under.sh" "$host" 2 "$sorrel" run --host ./sorrel-host.so -n 7 --workers 1 --verbose "$program" >out 2>err
status=$?
[ $status = 0 ] && grep -qx "7 ranks" out && exit 0
echo "status $status"
cat out err
exit $((status == 0 ? 1 : status))
