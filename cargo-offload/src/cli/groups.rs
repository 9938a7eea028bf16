//! Groups of commands in the help of `cargo offload`.
//!
//! clap prints all commands of a program as one list, so the list is a part of the help template here.

use std::fmt::Write as _;

use clap::Command;

/// A heading of the help, and the commands below it.
struct Group {
    heading: &'static str,
    commands: &'static [&'static str],
}

const GROUPS: [Group; 4] = [
    Group {
        heading: "Develop",
        commands: &["new", "init", "build", "run", "dev", "check", "test", "bench", "targets", "compression"],
    },
    Group { heading: "Inspect", commands: &["inspect", "asm", "devices", "report", "size", "verify"] },
    Group { heading: "Ship", commands: &["extract", "prune", "repack", "export", "vendor"] },
    Group { heading: "Toolchain", commands: &["doctor", "toolchain", "cache", "completions", "man"] },
];

/// Returns `command` with a help template that lists its commands by group, each with its about line.
pub(super) fn with_groups(command: Command) -> Command {
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{options}}{{after-help}}",
        command_list(&command)
    );
    command.help_template(template)
}

fn command_list(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let width = GROUPS.iter().flat_map(|group| group.commands).map(|name| name.len()).max().unwrap_or(0);
    let mut list = String::new();
    for group in &GROUPS {
        let _ = writeln!(list, "{header}{}:{header:#}", group.heading);
        for name in group.commands {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {literal}{name:width$}{literal:#}  {about}");
        }
        list.push('\n');
    }
    let _ = writeln!(list, "{header}Options:{header:#}");
    list
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::{self, Options};

    /// Columns of a terminal on which the list has to fit without wrapping.
    const COLUMNS: usize = 80;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Options::command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut expected: Vec<&str> = visible.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        expected.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, expected);
    }

    #[test]
    fn the_help_lists_every_command_with_its_about_line() {
        let help = cli::command().render_help().to_string();
        for command in cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let about = command.get_about().expect("an about line").to_string();
            let line = help.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
            let line = line.unwrap_or_else(|| panic!("`{name}` is not in the help"));
            assert!(line.ends_with(&about), "{line}");
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }
}
