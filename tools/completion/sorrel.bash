# Completion of the `sorrel` command for bash: commands, and the options that their own --help prints.
_sorrel() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(sorrel --help | sed -n 's/^  \([a-z]*\)  .*/\1/p') help --help --version" -- "$word")
  elif [[ $command == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sorrel --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sorrel "$command" --help | grep -oE '^ *(-[a-zA-Z], *)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u)" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _sorrel sorrel
