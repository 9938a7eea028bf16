//! Output of commands: tables, text, JSON lines and progress.

pub(crate) mod choice;
pub(crate) mod date;
pub(crate) mod downloads;
mod mark;
pub(crate) mod output;
pub(crate) mod status_line;
pub(crate) mod steps;
pub(crate) mod table;
pub(crate) mod text;
