//! Commands that hints on a screen name.

use super::steps::{End, Lines, Step};

/// A command of a hint, the `number`th of its screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint<'a> {
    pub(super) command: &'a str,
    pub(super) number: usize,
}

impl Hint<'_> {
    /// The step that runs it after `step`.
    pub(super) fn step(&self, step: &Step) -> Step {
        let name = format!("{}-hint-{}", step.name, self.number.saturating_add(1));
        // `doctor` and `verify` end badly where they find something.
        let finds = [" doctor", " verify"].iter().any(|word| self.command.contains(word));
        let end = if finds { End::Either } else { End::Well };
        Step { end, lines: Lines::Any, directory: step.directory, ..Step::new(&name, self.command) }
    }
}

/// The commands of the lines that start with `hint:`, each once. One with a word in capitals is for the user to complete.
pub(super) fn commands(screen: &str) -> Vec<String> {
    let hints = screen.lines().filter(|line| line.trim_start().starts_with("hint:"));
    let quoted = hints.flat_map(|line| line.split('`').skip(1).step_by(2));
    let mut commands: Vec<String> = Vec::new();
    for command in quoted.filter(|text| text.starts_with("cargo offload ")) {
        if !command.split(' ').any(is_placeholder) && !commands.iter().any(|known| known == command) {
            commands.push(command.to_string());
        }
    }
    commands
}

fn is_placeholder(word: &str) -> bool {
    word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase())
}

/// What a command fetches from a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Download {
    Nothing,
    /// Some megabytes.
    Small,
    /// A compiler.
    Large,
}

pub(super) fn download(command: &str) -> Download {
    match command.split_once(" toolchain install") {
        None => Download::Nothing,
        Some((_, " cuda-headers" | " nvdisasm")) => Download::Small,
        Some(_) => Download::Large,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_hints_are_found() {
        let screen = "error: `cargo offload run` failed\n  hint: `cargo offload targets add host`, or `x`\n\
                      hint: `cargo offload doctor TARGET` or `cargo offload targets add host`\n";
        assert_eq!(commands(screen), ["cargo offload targets add host"]);
        assert_eq!(download("cargo offload toolchain install cuda-headers"), Download::Small);
        assert_eq!(download("cargo offload toolchain install nvcc"), Download::Large);
        assert_eq!(download("cargo offload doctor"), Download::Nothing);
    }
}
