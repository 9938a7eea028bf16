//! One cell: four links with one linker in one profile, run and measured.

use std::path::Path;

use super::fixture::Fixture;
use super::linker::Linker;
use offload_tests::binary;
use offload_tests::error::{Error, Result};

/// What a cell found.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The linker that ran, as it calls itself; several if they differ.
    pub(super) seen: String,
    pub(super) app: Found,
    pub(super) control: Found,
    /// Relocations beyond those of the program without images.
    pub(super) relocations: i64,
    /// Constructors beyond those of the program without images.
    pub(super) constructors: i64,
}

/// What a program printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) images: String,
    pub(super) plugin: String,
    pub(super) inside: String,
}

/// Links the programs of the fixture and looks at them.
pub(super) fn run(fixture: &Fixture<'_>, linker: &Linker, profile: &str) -> Result<Outcome> {
    let plug = fixture.build("plug", linker, profile, "")?;
    let app = fixture.build("app", linker, profile, "")?;
    if app.archives.len() != 2 {
        return Err(Error::new(format!(
            "2 archives were to be linked whole, but there are {}",
            app.archives.len()
        )));
    }
    let control = fixture.build("control", linker, profile, &app.archives.join(";"))?;
    let bare = fixture.build("bare", linker, profile, "")?;
    let logs = [&plug, &app, &control, &bare].map(|built| built.linkers.join(", "));
    let with = binary::measure(fixture.workspace, &app.file)?;
    let without = binary::measure(fixture.workspace, &bare.file)?;
    Ok(Outcome {
        seen: distinct(&logs),
        app: report(fixture, &app.file, Some(&plug.file))?,
        control: report(fixture, &control.file, None)?,
        relocations: with.relocations - without.relocations,
        constructors: with.constructors - without.constructors,
    })
}

impl Outcome {
    /// What is wrong with the cell.
    pub(super) fn failure(&self, linker: &Linker) -> Option<String> {
        let wants = [
            ("the linker", self.seen.as_str(), short(&linker.version)),
            ("the program finds", &self.app.images, "2 of 2"),
            ("the program finds in its plugin", &self.app.plugin, "1 of 1"),
            ("the plugin finds", &self.app.inside, "1 of 1"),
            ("the control finds", &self.control.images, "0 of 2"),
        ];
        let wrong = wants.into_iter().find(|(_, is, want)| is != want);
        let text = wrong.map(|(what, is, want)| format!("{what}: `{is}`, not `{want}`"));
        let added = (self.relocations != 0 || self.constructors != 0)
            .then(|| format!("{:+} relocations, {:+} constructors", self.relocations, self.constructors));
        text.or(added)
    }
}

/// The version without what it is compatible with and where it was built: `-v` and `--version` differ there.
fn short(version: &str) -> &str {
    let end = if version.starts_with("GNU") { None } else { version.find(" (") };
    end.and_then(|end| version.get(..end)).unwrap_or(version)
}

/// A build that linked nothing is reported, not omitted.
fn distinct(logs: &[String]) -> String {
    let mut names: Vec<&str> =
        logs.iter().map(|log| if log.is_empty() { "none" } else { short(log) }).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

fn report(fixture: &Fixture<'_>, program: &Path, plugin: Option<&Path>) -> Result<Found> {
    let text = fixture.workspace.shell.cmd(program).args(plugin).quiet().read()?;
    Ok(parse(&text))
}

/// Reads `images=2 of 2 plugin=1 of 1 inside=1 of 1`.
fn parse(text: &str) -> Found {
    Found { images: field(text, "images"), plugin: field(text, "plugin"), inside: field(text, "inside") }
}

/// The first words behind `name` in what the program prints.
fn field(text: &str, name: &str) -> String {
    let rest = text.split_once(&format!("{name}=")).map_or("-", |(_, rest)| rest);
    rest.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        let app = parse("images=2 of 2 plugin=1 of 1 inside=1 of 1");
        let seen = "mold 1.10.1".to_string();
        Outcome { seen, app, control: parse("images=0 of 2"), relocations: 0, constructors: 0 }
    }

    fn linker() -> Linker {
        Linker { name: "mold", version: "mold 1.10.1 (compatible with GNU ld)".into(), args: Vec::new() }
    }

    #[test]
    fn a_right_cell_passes() {
        assert_eq!(outcome().failure(&linker()), None);
    }

    #[test]
    fn a_wrong_cell_fails() {
        let wrong: [fn(&mut Outcome); 5] = [
            |cell| cell.seen = "LLD 22.1.2".into(),
            |cell| cell.app.images = "1 of 2".into(),
            |cell| cell.control.images = "2 of 2".into(),
            |cell| cell.relocations = 1,
            |cell| cell.constructors = 1,
        ];
        for change in wrong {
            let mut cell = outcome();
            change(&mut cell);
            assert!(cell.failure(&linker()).is_some(), "{cell:?}");
        }
    }

    #[test]
    fn linkers_are_compared_by_name_and_version() {
        assert_eq!(short("LLD 22.1.2 (/checkout/src abc) (compatible with GNU linkers)"), "LLD 22.1.2");
        assert_eq!(short("GNU ld (GNU Binutils for Debian) 2.40"), "GNU ld (GNU Binutils for Debian) 2.40");
        assert_eq!(distinct(&["mold 1.10.1 (x)".into(), String::new()]), "mold 1.10.1, none");
    }
}
