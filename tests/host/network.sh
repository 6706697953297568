#!/usr/bin/env bash
# A job across two network namespaces that a limited wire joins: network.sh HOST PROCESSES SORREL MBIT PROGRAM [WORDS…]
# so many processes in each.
# Each is a machine to the host MPI: an address, a name and a view of shared memory of its own; what goes between them goes
# over TCP, through a token-bucket filter. Needs root and ip, tc, unshare, nsenter; skips (77) with a word otherwise.
set -u
host=$1 processes=$2 sorrel=$3 mbit=$4
shift 4
skip() {
  echo "skipped: $1"
  exit 77
}
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
for tool in ip tc unshare; do command -v $tool >/dev/null || skip "$tool is not installed"; done
[ -e "$(dirname "$sorrel")/../lib/libsorrel-host-$host.so" ] || skip "no plugin for $host was built"
id=$$ a=sorrel-a-$$ b=sorrel-b-$$
folder=$(mktemp -d)
# As small as the id allows: several tests may run at a time.
net=10.$((200 + id / 65536 % 50)).$((id / 256 % 256))
inside() {
  ip netns pids $a 2>/dev/null
  ip netns pids $b 2>/dev/null
}
# Whoever the launcher has left behind is the job's fault.
end() {
  local status=$?
  for ((i = 0; i < 40; ++i)); do
    [ -n "$(inside)" ] || break
    sleep 0.05
  done
  if [ -n "$(inside)" ]; then
    echo "left behind:" $(ps -o args= -p "$(inside | paste -sd,)") >&2
    kill -9 $(inside)
    status=99
  fi
  ip netns del $a 2>/dev/null
  ip netns del $b 2>/dev/null
  rm -rf "$folder"
  exit $status
}
trap end EXIT
ip netns add $a 2>/dev/null && ip netns add $b || skip "the system gives no network namespaces"
ip link add va$id netns $a type veth peer name vb$id netns $b || skip "the system gives no veth"
number=1
for side in "$a va$id" "$b vb$id"; do
  set_up=($side)
  in_side=(ip netns exec "${set_up[0]}")
  "${in_side[@]}" ip link set "${set_up[1]}" name wire0
  "${in_side[@]}" ip addr add $net.$number/24 dev wire0
  "${in_side[@]}" ip link set lo up
  "${in_side[@]}" ip link set wire0 up
  "${in_side[@]}" tc qdisc add dev wire0 root tbf rate "${mbit}mbit" burst 64kb latency 50ms ||
    skip "the system has no token-bucket filter"
  number=$((number + 1))
done
# The wire is there when both ends have seen each other.
for space in $a $b; do
  for ((i = 0; i < 100; ++i)); do
    [ "$(ip netns exec $space cat /sys/class/net/wire0/operstate)" = up ] && break
    sleep 0.05
  done
done

# enter.sh [OPTIONS] ADDRESS COMMAND…: what ssh would do.
cat >"$folder/enter.sh" <<END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
case \$1 in $net.1) space=$a ;; *) space=$b ;; esac
shift
exec ip netns exec \$space unshare --uts --ipc bash -c "hostname \$space; \$*" </dev/null
END
chmod +x "$folder/enter.sh"
run=(ip netns exec $a unshare --uts --ipc bash -c 'hostname "$0"; exec "$@"' $a)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $host in
  openmpi)
    command -v mpirun.openmpi >/dev/null || skip "Open MPI's mpirun.openmpi is not installed"
    timeout 60 "${run[@]}" mpirun.openmpi --host $net.1:$processes,$net.2:$processes -n $((2 * processes)) --bind-to none \
      --mca plm_rsh_agent "$folder/enter.sh" \
      --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include $net.0/24 --mca oob_tcp_if_include $net.0/24 \
      "$sorrel" run --workers 1 "$@"
    ;;
  mpich)
    command -v mpiexec.mpich >/dev/null || skip "MPICH's mpiexec.mpich is not installed"
    UCX_TLS=tcp,self UCX_NET_DEVICES=wire0 timeout 60 "${run[@]}" mpiexec.mpich \
      -hosts $net.1:$processes,$net.2:$processes -n $((2 * processes)) -launcher ssh -launcher-exec "$folder/enter.sh" -localhost $net.1 "$sorrel" run --workers 1 "$@"
    ;;
esac
