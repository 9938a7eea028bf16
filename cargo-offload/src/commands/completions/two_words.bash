
complete -F _cargo_offload -o bashdefault -o default cargo-offload

# `cargo offload`: the completion of cargo knows only its own commands, and is asked for everything else.
_cargo_with_offload() {
    local at=1
    [[ "${COMP_WORDS[1]}" == +* ]] && at=2
    if [[ "$COMP_CWORD" -gt "$at" && "${COMP_WORDS[at]}" == offload ]]; then
        COMP_WORDS=(cargo-offload "${COMP_WORDS[@]:at+1}")
        COMP_CWORD=$((COMP_CWORD - at))
        _cargo_offload cargo-offload "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        return
    fi
    if [[ -z "${_cargo_without_offload:-}" ]]; then
        # bash-completion loads that of a command when it is first asked for, which this one has taken the place of.
        complete -r cargo
        if declare -F _comp_load >/dev/null; then
            _comp_load cargo
        elif declare -F __load_completion >/dev/null; then
            __load_completion cargo
        fi
        _cargo_take_over
    fi
    [[ -n "${_cargo_without_offload:-}" ]] && "$_cargo_without_offload" "$@"
}

_cargo_take_over() {
    local words=()
    read -ra words <<<"$(complete -p cargo 2>/dev/null)"
    local at
    for at in "${!words[@]}"; do
        if [[ "${words[at]}" == -F && "${words[at + 1]}" != _cargo_with_offload ]]; then
            _cargo_without_offload=${words[at + 1]}
        fi
    done
    complete -F _cargo_with_offload -o bashdefault -o default cargo
}

_cargo_take_over
