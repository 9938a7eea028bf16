//! Transient status line on the terminal of standard error.

use std::io::{self, Stderr, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::table::Colour;

/// Goes to the line's start, and clears it.
const CLEAR: &str = "\r\x1b[K";
/// Width of a terminal of unknown size.
const WIDTH: usize = 80;

/// A transient line. Errors are ignored: nothing can be reported if the terminal is gone.
#[derive(Debug)]
pub(crate) struct StatusLine {
    colour: Colour,
    screen: Mutex<Screen<Stderr>>,
}

impl StatusLine {
    pub(crate) fn new(colour: Colour) -> StatusLine {
        StatusLine { colour, screen: Mutex::new(Screen::new(io::stderr())) }
    }

    /// Shows `word`, as cargo shows what it does, and `text`, as far as they fit.
    pub(crate) fn draw(&self, word: &str, text: &str) {
        let line = fitted(word, text, width(), self.colour);
        let mut screen = self.screen();
        screen.covers = true;
        let _ = screen.draw(line);
    }

    /// Another program's line, which fits; it is shown where [`StatusLine::draw`] has nothing.
    pub(crate) fn draw_below(&self, line: String) {
        let mut screen = self.screen();
        screen.below = line;
        let _ = screen.uncovered();
    }

    /// Shows the other program's line again.
    pub(crate) fn uncover(&self) {
        let mut screen = self.screen();
        screen.covers = false;
        let _ = screen.uncovered();
    }

    /// Writes whole lines above.
    pub(crate) fn write_above(&self, lines: &[u8]) {
        let _ = self.screen().write_above(lines);
    }

    /// Nothing is shown until something is drawn again.
    pub(crate) fn clear(&self) {
        let _ = self.screen().draw(String::new());
    }

    fn screen(&self) -> MutexGuard<'_, Screen<Stderr>> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Columns of the terminal on standard error.
pub(crate) fn width() -> usize {
    let width = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0.into());
    width.filter(|width| *width > 0).unwrap_or(WIDTH)
}

/// `word` and `text` in one line that is not broken: one column is left for the cursor.
fn fitted(word: &str, text: &str, width: usize, colour: Colour) -> String {
    let left = width.saturating_sub(1);
    let word: String = word.chars().take(left).collect();
    let text: String = text.chars().take(left.saturating_sub(word.chars().count())).collect();
    match colour {
        Colour::Ansi if !word.is_empty() => format!("\x1b[1;36m{word}\x1b[0m{text}"),
        _ => word + &text,
    }
}

/// The last line of a terminal.
#[derive(Debug)]
struct Screen<W> {
    out: W,
    shown: String,
    /// Another program's line.
    below: String,
    /// Whether ours is shown in its place.
    covers: bool,
}

impl<W: Write> Screen<W> {
    fn new(out: W) -> Screen<W> {
        Screen { out, shown: String::new(), below: String::new(), covers: false }
    }

    fn draw(&mut self, line: String) -> io::Result<()> {
        if line == self.shown {
            return Ok(());
        }
        self.shown = line;
        self.out.write_all(format!("{CLEAR}{}", self.shown).as_bytes())?;
        self.out.flush()
    }

    /// The other program's line, if ours does not cover it.
    fn uncovered(&mut self) -> io::Result<()> {
        if self.covers { Ok(()) } else { self.draw(self.below.clone()) }
    }

    /// In one go, so that a terminal need not show what is between.
    fn write_above(&mut self, lines: &[u8]) -> io::Result<()> {
        let clear = if self.shown.is_empty() { "" } else { CLEAR };
        self.out.write_all(&[clear.as_bytes(), lines, self.shown.as_bytes()].concat())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_above_what_is_shown() {
        let mut screen = Screen::new(Vec::new());
        screen.write_above(b"first\n").unwrap();
        for line in ["one", "one", "two"] {
            screen.draw(line.to_string()).unwrap();
        }
        screen.write_above(b"second\n").unwrap();
        screen.draw(String::new()).unwrap();
        screen.write_above(b"third\n").unwrap();
        let expected = "first\n\r\x1b[Kone\r\x1b[Ktwo\r\x1b[Ksecond\ntwo\r\x1b[Kthird\n";
        assert_eq!(String::from_utf8(screen.out).unwrap(), expected);
    }

    #[test]
    fn another_program_s_line_comes_back() {
        let mut screen = Screen::new(Vec::new());
        screen.below = "theirs".into();
        screen.uncovered().unwrap();
        screen.covers = true;
        screen.draw("ours".into()).unwrap();
        screen.below = "later".into();
        screen.uncovered().unwrap();
        screen.covers = false;
        screen.uncovered().unwrap();
        let expected = "\r\x1b[Ktheirs\r\x1b[Kours\r\x1b[Klater";
        assert_eq!(String::from_utf8(screen.out).unwrap(), expected);
    }

    #[test]
    fn a_line_is_never_broken() {
        assert_eq!(fitted("ab", "cdef", 7, Colour::Never), "abcdef");
        assert_eq!(fitted("ab", "cdef", 6, Colour::Never), "abcde");
        assert_eq!(fitted("ab", "cdef", 6, Colour::Ansi), "\x1b[1;36mab\x1b[0mcde");
        assert_eq!(fitted("", "äöü", 3, Colour::Ansi), "äö");
        assert_eq!(fitted("ab", "cdef", 0, Colour::Never), "");
    }
}
