#!/usr/bin/env bash
# A job across two network namespaces that a limited wire joins: network.sh HOST PROCESSES SORREL MBIT PROGRAM [WORDS…]
# so many processes in each.
# Each is a machine to the host MPI: an address, a name and a view of shared memory of its own; what goes between them goes
# over TCP, through a token-bucket filter. Needs root and ip, tc, unshare, nsenter; skips (77) with a word otherwise.
set -u
host=$1 processes=$2 sorrel=$3 mbit=$4
shift 4
# As after the path of the command.
[ "${1:-}" != run ] || shift
skip() {
  echo "skipped: $1"
  exit 77
}
. "$(dirname "$(readlink -f "$0")")/namespaces.sh"
folder=$(mktemp -d)
end() {
  local status=$?
  end_namespaces || status=99
  # With what a killed mpirun and its daemon leave of themselves.
  rm -rf "$folder" "${TMPDIR:-/tmp}/ompi.${a:-none}".* "${TMPDIR:-/tmp}/ompi.${b:-none}".*
  exit $status
}
trap end EXIT
make_namespaces "$mbit"

# enter.sh [OPTIONS] ADDRESS COMMAND…: what ssh would do.
cat >"$folder/enter.sh" <<END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
case \$1 in $net.1) space=$a ;; *) space=$b ;; esac
shift
exec ip netns exec \$space unshare --uts --ipc bash -c "hostname \$space; \$*" </dev/null
END
chmod +x "$folder/enter.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $host in
  openmpi)
    command -v mpirun.openmpi >/dev/null || skip "Open MPI's mpirun.openmpi is not installed"
    timeout 150 "${in_a[@]}" mpirun.openmpi --host $net.1:$processes,$net.2:$processes -n $((2 * processes)) --bind-to none \
      --mca plm_rsh_agent "$folder/enter.sh" \
      --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include $net.0/24 --mca oob_tcp_if_include $net.0/24 \
      "$sorrel" run --workers 1 "$@"
    ;;
  mpich)
    command -v mpiexec.mpich >/dev/null || skip "MPICH's mpiexec.mpich is not installed"
    UCX_TLS=tcp,self UCX_NET_DEVICES=wire0 timeout 150 "${in_a[@]}" mpiexec.mpich \
      -hosts $net.1:$processes,$net.2:$processes -n $((2 * processes)) -launcher ssh -launcher-exec "$folder/enter.sh" -localhost $net.1 "$sorrel" run --workers 1 "$@"
    ;;
esac
