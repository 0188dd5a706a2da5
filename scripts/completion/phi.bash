# Completion of phi for bash: source it, or put it where bash-completion looks (make install does).
_phi() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} name
    COMPREPLY=()
    case $before in
    -c | --config | check)
        compopt -o filenames 2>/dev/null # they are quoted
        mapfile -t COMPREPLY < <(compgen -f -- "$word" | grep -E '\.(toml|yaml|yml|json)$'; compgen -d -- "$word")
        return
        ;;
    -a | --attach | --session | --record | --replay | --trace)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    -m | --model)
        while IFS= read -r name; do # compgen -W would run what stands in them
            [[ $name == "$word"* ]] && COMPREPLY+=("$name")
        done < <(phi models 2>/dev/null | sed -n '/^without /d; s/^\([:a-z][A-Za-z0-9:._/-]*\) .*/\1/p')
        return
        ;;
    --thinking)
        mapfile -t COMPREPLY < <(compgen -W "off minimal low medium high xhigh max" -- "$word")
        return
        ;;
    --agent | --system | --allow | --max-turns | --max-cost) return ;;
    esac
    case $word in
    -*)
        mapfile -t COMPREPLY < <(compgen -W "--config --agent --model --attach --system --allow --yes --plan --thinking --max-turns --max-cost --continue --session --no-session --json --record
            --replay --trace --quiet --help --version" -- "$word")
        ;;
    *) [ "$COMP_CWORD" = 1 ] && mapfile -t COMPREPLY < <(compgen -W "acp check doctor models schema sessions" -- "$word") ;;
    esac
}
complete -F _phi phi
