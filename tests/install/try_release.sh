#!/usr/bin/env bash
# try_release.sh FOLDER SOURCES [WAY:SUITE...]
#
# Tries each artefact that `./dev release FOLDER` has made in a new root of its own (clean_root.sh), and the checksums. WAY:SUITE selects some, such as deb:trixie.
# Prints one line for each; the status is 1 if one has failed. SORREL_ROOTS=FOLDER keeps the bare roots and the logs there.
set -euo pipefail
folder=$(realpath "$1") sources=$(realpath "$2")
shift 2
(($#)) || set -- prefix:bookworm deb:bookworm wheel:bookworm rpm:bookworm prefix:trixie deb:trixie wheel:trixie prefix:bullseye deb:bullseye wheel:bullseye
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
roots=${SORREL_ROOTS:-$(mktemp -d)}
status=0

(cd "$folder" && sha256sum --quiet --check SHA256SUMS)
for try in "$@"; do
  way=${try%:*} suite=${try#*:}
  case $way in
    prefix) file=$(echo "$folder"/sorrel-*-linux-*.tar.gz) ;;
    wheel) file=$(echo "$folder"/sorrel_mpi-*.whl) ;;
    *) file=$(echo "$folder"/sorrel[-_]*."$way") ;;
  esac
  log=$roots/$way-$suite.log
  # One page of the manual, whose blocks are run by Python 3.11.
  page=$sources/docs/quickstart.md
  [ "$suite" != bullseye ] || page=-
  if SORREL_SUITE=$suite SORREL_ROOT=$roots/$suite "$here/clean_root.sh" "$way" "$file" "$sources" "$page" >"$log" 2>&1; then
    echo "ok      $try $(basename "$file")"
  else
    echo "FAILED  $try $(basename "$file"), $log:"
    tail -n 20 "$log"
    status=1
  fi
done
exit $status
