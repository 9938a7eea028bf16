//! A screen after a step: kept as a file, and judged.

use std::fs;
use std::path::Path;

use super::steps::{End, Lines, Step};
use super::terminal::Shown;
use offload_tests::error::Result;

/// What a step left on the terminal.
#[derive(Clone, Debug)]
pub(super) struct Screen {
    step: Step,
    width: u16,
    shown: Shown,
}

impl Screen {
    pub(super) fn new(step: &Step, width: u16, shown: Shown) -> Screen {
        Screen { step: step.clone(), width, shown }
    }

    /// As the program wrote it.
    pub(super) fn text(&self) -> &str {
        &self.shown.text
    }

    /// With the sequences for colours.
    pub(super) fn coloured(&self) -> &str {
        self.shown.coloured.trim_end()
    }

    /// The command, with the width that it ran at.
    pub(super) fn title(&self) -> String {
        format!("{} ({} columns)", self.step.command, self.width)
    }

    /// Writes the text into `directory`.
    pub(super) fn keep(&self, directory: &Path) -> Result<()> {
        let Shown { exit_code, text, .. } = &self.shown;
        let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
        let content = format!("$ {}\n{}\n# exit code {exit_code}\n", self.step.command, lines.join("\n"));
        Ok(fs::write(directory.join(format!("{}.txt", self.step.name)), content)?)
    }

    /// What is not as it should be, with the place of the screen.
    pub(super) fn problems(&self) -> Vec<String> {
        let end = self.wrong_end();
        let text = &self.shown.text;
        let missing = self.step.says.iter().filter(|part| !text.contains(**part));
        let missing = missing.map(|part| format!("the screen does not say `{part}`"));
        let problems = end.into_iter().chain(missing).chain(self.wide_line());
        problems.map(|problem| format!("{}/{}.txt: {problem}", self.width, self.step.name)).collect()
    }

    fn wrong_end(&self) -> Option<String> {
        let code = self.shown.exit_code;
        let right = match self.step.end {
            End::Well => code == 0,
            End::Badly => code != 0 && code < 126,
            End::Either => code < 126,
        };
        (!right).then(|| format!("`{}` ended with exit code {code}", self.step.command))
    }

    /// The first line that is wider than the screen, if none may be.
    fn wide_line(&self) -> Option<String> {
        if self.step.lines != Lines::Fit {
            return None;
        }
        let mut lines = self.shown.text.lines();
        let wide = lines.find(|line| line.trim_end().chars().count() > usize::from(self.width))?;
        Some(format!("a line is wider than the screen: `{}`", wide.trim_end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(end: End, exit_code: i32, text: &str) -> Vec<String> {
        let step = Step { end, lines: Lines::Fit, says: vec!["found"], ..Step::new("a", "b") };
        let shown = Shown { exit_code, text: text.to_string(), coloured: String::new() };
        Screen::new(&step, 10, shown).problems()
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(problems(End::Well, 0, "found it   \n"), [""; 0]);
        assert_eq!(problems(End::Well, 1, "found\n"), ["10/a.txt: `b` ended with exit code 1"]);
        // A shell that does not find a program says 127.
        assert_eq!(problems(End::Badly, 127, "found\n").len(), 1);
        assert_eq!(problems(End::Badly, 101, "found\n"), [""; 0]);
        assert_eq!(problems(End::Either, 0, "no\n"), ["10/a.txt: the screen does not say `found`"]);
        assert_eq!(
            problems(End::Well, 0, "found 9 and more\n"),
            ["10/a.txt: a line is wider than the screen: `found 9 and more`"]
        );
    }
}
