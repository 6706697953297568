# Completion of the `sorrel` command for bash: commands, the options that their own --help prints, and values of options and arguments, which
# `sorrel complete` prints.
_sorrel() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} values
  COMPREPLY=()
  # bash has a word of its own for the = of --option=value.
  [[ $word != = ]] || word=''
  [[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD - 2]}
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(sorrel --help | sed -n 's/^  \([a-z]*\)  .*/\1/p') help --help --version --prefix" -- "$word")
  elif [[ $command == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sorrel --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(sorrel "$command" --help | grep -oE '^ *(-[a-zA-Z], *)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u)" -- "$word")
  else
    if [[ $before == --* ]]; then values=$(sorrel complete "$command" "$before" 2>/dev/null); else values=$(sorrel complete "$command" 2>/dev/null); fi
    [ -z "$values" ] || mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _sorrel sorrel
