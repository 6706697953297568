#!/usr/bin/env bash
# Runs a job while /dev/shm is full: full_dev_shm.sh COMMAND [WORDS…]. In a mount namespace of its own, which needs
# root; 77 otherwise.
unshare --mount true 2>/dev/null || { echo "no mount namespaces for us: not tested"; exit 77; }
exec unshare --mount --propagation private bash -c '
  mount -t tmpfs -o size=64k tmpfs /dev/shm || exit 77
  dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null
  echo x 2>/dev/null >/dev/shm/more && [ -s /dev/shm/more ] && { echo "it is not full"; exit 1; }
  "$@" && [ "$(ls /dev/shm)" = "full
more" ]
' bash "$@"
