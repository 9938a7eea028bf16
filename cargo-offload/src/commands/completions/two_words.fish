
# `cargo offload`: what completes the words of `cargo-offload`, for the words behind `offload`.
function __cargo_offload_two_words
    set -l words (commandline -opc)
    set -l at (contains -i -- offload $words)
    or return
    set -l rest (string escape -- $words[(math $at + 1)..-1])
    complete -C "cargo-offload $rest "(commandline -ct)
end
complete -c cargo -n "__fish_seen_subcommand_from offload" -f -a "(__cargo_offload_two_words)"
