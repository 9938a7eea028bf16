//! `completions`: completion scripts of shells for `cargo offload` and `cargo-offload`.

use clap_complete::Shell;

use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Completions) -> Result<ExitStatus> {
    // Into memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::program_command(), name(args.shell), &mut script);
    script.extend_from_slice(two_words(args.shell).as_bytes());
    output.document(&script)?;
    Ok(ExitStatus::Success)
}

/// The program. For bash clap_complete 4.6 looks for the options of commands under another name than it gives them if
/// there is a hyphen in it; the script below makes good for the other name.
fn name(shell: Shell) -> &'static str {
    if shell == Shell::Bash { "cargo_offload" } else { "cargo-offload" }
}

/// Script that completes `cargo offload` by way of the completion of `cargo`. That for zsh, which comes
/// with cargo, calls the function `_cargo-offload` by itself.
fn two_words(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("completions/two_words.bash"),
        Shell::Fish => include_str!("completions/two_words.fish"),
        _ => "",
    }
}
