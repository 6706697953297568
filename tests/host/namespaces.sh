# Two network namespaces that a limited wire joins, for scripts that source this. Each is a machine to a launcher: an
# address, a name and a view of shared memory of its own. skip() is the script's.
# make_namespaces MBIT: sets a and b, their names; net, $net.1 is a's address and $net.2 b's; in_a and in_b, what a command
# begins with to run there.
. "$(dirname "${BASH_SOURCE[0]}")/../wait_until.sh"
make_namespaces() {
  [ "$(id -u)" = 0 ] || skip "network namespaces need root"
  local tool number=1 side set_up in_side space
  for tool in ip tc unshare; do command -v $tool >/dev/null || skip "$tool is not installed"; done
  a=sorrel-a-$$ b=sorrel-b-$$
  # As small as the id allows: several tests may run at a time.
  net=10.$((200 + $$ / 65536 % 50)).$(($$ / 256 % 256))
  ip netns add $a 2>/dev/null && ip netns add $b || skip "the system gives no network namespaces"
  ip link add va$$ netns $a type veth peer name vb$$ netns $b || skip "the system gives no veth"
  for side in "$a va$$" "$b vb$$"; do
    set_up=($side)
    in_side=(ip netns exec "${set_up[0]}")
    "${in_side[@]}" ip link set "${set_up[1]}" name wire0
    "${in_side[@]}" ip addr add $net.$number/24 dev wire0
    "${in_side[@]}" ip link set lo up
    "${in_side[@]}" ip link set wire0 up
    "${in_side[@]}" tc qdisc add dev wire0 root tbf rate "${1}mbit" burst 64kb latency 50ms ||
      skip "the system has no token-bucket filter"
    number=$((number + 1))
  done
  # The wire is there when both ends have seen each other.
  for space in $a $b; do
    wait_until 60000 is_wire_up "$space"
  done
  in_a=(ip netns exec $a unshare --uts --ipc bash -c 'hostname "$0"; exec "$@"' $a)
  in_b=(ip netns exec $b unshare --uts --ipc bash -c 'hostname "$0"; exec "$@"' $b)
}

is_wire_up() { [ "$(ip netns exec "$1" cat /sys/class/net/wire0/operstate)" = up ]; }
inside() {
  ip netns pids $a 2>/dev/null
  ip netns pids $b 2>/dev/null
}
nobody_inside() { [ -z "$(inside)" ]; }

# end_namespaces: a process that is still inside is an error: names it, ends all of them, and returns 1.
end_namespaces() {
  local left=0
  [ -n "${a:-}" ] || return 0
  if ! wait_until 60000 nobody_inside; then
    echo "left behind:" $(ps -o args= -p "$(inside | paste -sd,)") >&2
    kill -9 $(inside)
    left=1
  fi
  ip netns del $a 2>/dev/null
  ip netns del $b 2>/dev/null
  return $left
}
