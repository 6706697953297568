#!/usr/bin/env bash
# completion.sh SORREL SOURCE: the completions of bash, and of zsh and fish where they are installed.
set -uo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$1" "$folder/sorrel"
export PATH=$folder:$PATH
source "$2/tools/completion/sorrel.bash"
status=0

# expect NAME LINE REPLY…: in bash the last word of LINE can become each REPLY.
expect() {
  local name=$1 words reply
  IFS=' ' read -ra words <<<"$2"
  [[ $2 == *' ' ]] && words+=('')
  shift 2
  COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMPREPLY=()
  _sorrel
  for reply in "$@"; do
    printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -- "$reply" && continue
    echo "$name: no $reply in: ${COMPREPLY[*]}"
    status=1
  done
}

expect commands 'sorrel ' run info cc cxx fc plan ps top stack bench selftest demo try help
expect beginning 'sorrel p' plan
expect help 'sorrel help ' run plan
expect options 'sorrel run --' --ranks --procs --workers --seed --label
expect option 'sorrel plan --per' --periodic
expect bench 'sorrel bench --qu' --quick
((${#COMPREPLY[@]} == 1)) || { echo "bench: ${COMPREPLY[*]}"; status=1; }
expect balance 'sorrel run --balance ' off steal measured auto
expect beginning_of_a_value 'sorrel run --share fi' fixed
((${#COMPREPLY[@]} == 1)) || { echo "values: ${COMPREPLY[*]}"; status=1; }
expect value_behind_a_sign 'sorrel run --bind = co' core
expect runs 'sorrel test --only ' ranks network check schedules
expect page 'sorrel docs wai' waits
expect machine 'sorrel plan --machine sp' sp2
cd "$folder" && touch heat.c
expect file 'sorrel run -n 4 he' heat.c

if command -v zsh >/dev/null; then zsh -n "$2/tools/completion/_sorrel" || status=1; fi
if command -v fish >/dev/null; then
  for line in 'sorrel pl plan' 'sorrel run --ran --ranks' 'sorrel help inf info' 'sorrel run --balance ste steal'; do
    fish --no-config -c "source $2/tools/completion/sorrel.fish; complete -C '${line% *}'" | grep -q "^${line##* }" || {
      echo "fish: ${line% *} does not become ${line##* }"
      status=1
    }
  done
fi
exit $status
