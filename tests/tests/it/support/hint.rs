//! Commands that a hint names, which have to run as they stand.

use super::Project;

/// The commands of the subcommand in the lines of `text` that start with `hint:`.
pub fn commands(text: &str) -> Vec<Vec<String>> {
    let hints = text.lines().filter(|line| line.trim_start().starts_with("hint: "));
    let quoted = hints.flat_map(|line| line.split('`').skip(1).step_by(2));
    let commands = quoted.filter_map(|quoted| quoted.strip_prefix("cargo offload "));
    commands.map(|words| words.split(' ').map(str::to_string).collect()).collect()
}

impl Project {
    /// Runs the commands of the hint in `text` in the project; there is one, and each ends well.
    pub fn follow(&self, text: &str) {
        let commands = commands(text);
        assert!(!commands.is_empty(), "no command in the hint of\n{text}");
        for words in commands {
            let outcome = self.offload(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(outcome.success, "cargo offload {}: {}", words.join(" "), outcome.text);
        }
    }
}
