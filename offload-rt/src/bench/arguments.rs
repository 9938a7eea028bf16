//! The command line of a program with benchmarks, as `cargo bench`, `cargo test` and nextest pass it.

/// The arguments of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) mode: Mode,
    /// Parts of names; all are meant if there is none.
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Launches are timed: `cargo bench`.
    Timed,
    /// Whether everything works: `cargo test`.
    Once,
    /// Tests are listed, of which there are none.
    List,
}

impl Arguments {
    pub(super) fn read() -> Arguments {
        Arguments::parse(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()))
    }

    /// Options of other harnesses are passed over: cargo hands the same to all.
    pub(super) fn parse(args: impl IntoIterator<Item = String>) -> Arguments {
        let mut read = Arguments { mode: Mode::Once, names: Vec::new() };
        for arg in args {
            match arg.as_str() {
                "--bench" if read.mode == Mode::Once => read.mode = Mode::Timed,
                "--list" => read.mode = Mode::List,
                option if option.starts_with('-') => {}
                _ => read.names.push(arg),
            }
        }
        read
    }

    pub(super) fn means(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_s_words_are_understood() {
        fn parse(args: &[&str]) -> Arguments {
            Arguments::parse(args.iter().map(|arg| (*arg).to_string()))
        }
        assert_eq!(parse(&[]).mode, Mode::Once);
        assert_eq!(parse(&["--bench"]).mode, Mode::Timed);
        assert_eq!(parse(&["--list", "--format", "terse", "--bench"]).mode, Mode::List);
        let named = parse(&["--bench", "saxpy", "--save-baseline=x", "dot"]);
        assert!(named.means("saxpy, 4096") && named.means("a dot") && !named.means("sum"));
    }
}
