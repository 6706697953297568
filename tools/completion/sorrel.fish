# Completion of the `sorrel` command for fish: commands, the options that their own --help prints, and values of options and arguments, which
# `sorrel complete` prints.
function __sorrel_commands
    sorrel --help | string replace -rf '^  ([a-z]+)  +(.*)' '$1\t$2'
end

function __sorrel_options
    set -l command (commandline -opc)[2]
    sorrel $command --help | string match -r '^ *(?:-[a-zA-Z], *)?--[a-z-]+' | string match -r -- '--[a-z-]+'
end

function __sorrel_values
    set -l words (commandline -opc)
    if string match -q -- '--*' $words[-1]
        sorrel complete $words[2] $words[-1] 2>/dev/null
    else
        sorrel complete $words[2] 2>/dev/null
    end
end

complete -c sorrel -f -n __fish_use_subcommand -a '(__sorrel_commands)'
complete -c sorrel -f -n '__fish_seen_subcommand_from help' -a '(__sorrel_commands)'
complete -c sorrel -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -a '(__sorrel_options)'
complete -c sorrel -n 'not __fish_use_subcommand; and not string match -q -- "-*" (commandline -ct)' -a '(__sorrel_values)'
