# Completion of phi for bash: source it, or put it where bash-completion looks (make install does).
_phi() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    case $before in
    -c | --config | check)
        mapfile -t COMPREPLY < <(compgen -f -- "$word" | grep -E '\.(toml|yaml|yml|json)$'; compgen -d -S / -- "$word")
        return
        ;;
    -a | --attach | --session | --record | --replay | --trace)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    -m | --model)
        mapfile -t COMPREPLY < <(compgen -W "$(phi models 2>/dev/null | sed -n '/^without /d; s/^\([:a-z][^ ]*\) .*/\1/p')" -- "$word")
        return
        ;;
    --agent | --system) return ;;
    esac
    case $word in
    -*)
        mapfile -t COMPREPLY < <(compgen -W "--config --agent --model --attach --system --session --json --record
            --replay --trace --quiet --help --version" -- "$word")
        ;;
    *) [ "$COMP_CWORD" = 1 ] && mapfile -t COMPREPLY < <(compgen -W "check models schema" -- "$word") ;;
    esac
}
complete -F _phi phi
