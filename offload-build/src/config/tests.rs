//! Parsing of settings, and errors of wrong ones.

use std::collections::BTreeSet;

use offload_format::TargetSet;

use super::*;
use crate::targets::TargetName;

fn parse(text: &str) -> Result<Layer> {
    super::parse(text, Path::new("offload.toml"), Layer::read)
}

#[test]
fn targets_may_be_optional() {
    let layer = parse(r#"targets = ["host", { name = "intel:pvc", optional = true }]"#).unwrap();
    let targets = layer.targets.unwrap();
    assert_eq!(targets[0].presence, Presence::Required);
    assert_eq!(targets[1].presence, Presence::Optional);
    assert_eq!(targets[1].name, TargetName::Target("intel:pvc".parse().unwrap()));
}

#[test]
fn sets_have_names() {
    let targets =
        parse(r#"targets = ["portable", { name = "all-amd", optional = true }]"#).unwrap().targets.unwrap();
    assert_eq!(targets[0].name, TargetName::Set(TargetSet::Portable));
    assert_eq!(
        (&targets[1].name, targets[1].presence),
        (&TargetName::Set(TargetSet::AllAmd), Presence::Optional)
    );
}

#[test]
fn mistakes_are_named() {
    for (text, part) in [
        ("targets = 3", "expected a sequence"),
        ("targets = [3]", "`3` is not a target"),
        ("targets = [\"intel:pcv\"]", "intel:pvc"),
        (
            "target = []",
            "unknown field `target`, expected one of `targets`, `compression`, `strip`, `embed`, `vendored`, `remote`, `require`, `except`, `allow-unread`, `modules`",
        ),
        ("compression = { level = 99 }", "from 1 to 22"),
        ("compression = \"lots\"", "\"balanced\""),
    ] {
        let error = parse(text).err().unwrap().to_string();
        assert!(
            error.contains(part) && error.contains("offload.toml") && error.contains("line 1"),
            "{error}"
        );
    }
}

#[test]
fn the_documented_file_is_understood() {
    let doc = include_str!("../lib.rs").lines().map(|line| line.strip_prefix("//! ").unwrap_or_default());
    let text: Vec<&str> =
        doc.skip_while(|line| *line != "```toml").skip(1).take_while(|line| *line != "```").collect();
    let layer = parse(&text.join("\n")).unwrap();
    let options = &layer.modules["attention"];
    options.check().unwrap();
    assert_eq!(options.combinations().unwrap().len(), 4);
    assert_eq!((layer.strip, options.strip), (Some(false), Some(true)));
    assert_eq!((options.registers_of("forward"), options.registers_of("other")), (Some(255), Some(128)));
    assert_eq!((options.syclbin.is_some(), options.syclbin_libraries.len()), (true, 1));
    assert_eq!(layer.targets.unwrap().len(), 4);
}

/// The README, the pages of the book, and the crates' own READMEs.
fn pages() -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let book = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let book = book.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    book.chain(["README.md", "offload-build/README.md"].map(|name| root.join(name))).collect()
}

/// A block of TOML as a build script would read it.
fn read_block(block: &str) -> Result<Layer> {
    let of_cargo = [
        "[package]",
        "[dependencies]",
        "[build-dependencies]",
        "[dev-dependencies]",
        "[lib]",
        "[[bench]]",
        "[profile.",
        "[env]",
    ];
    if of_cargo.iter().any(|table| block.contains(table)) {
        return super::parse(block, Path::new("Cargo.toml"), |_| Ok(Layer::default()));
    }
    if block.contains("[package.metadata.offload]") {
        return super::parse(block, Path::new("Cargo.toml"), manifest_settings);
    }
    let layer = parse(block)?;
    layer.modules.values().try_for_each(Options::check)?;
    Ok(layer)
}

#[test]
fn the_pages_are_understood() {
    let mut count = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            let read = read_block(block);
            assert!(read.is_ok(), "{}: {}\n{block}", page.display(), read.err().unwrap());
            count += 1;
        }
    }
    assert!(count > 10, "{count} blocks of TOML");
    assert!(read_block("[modules.a]\nsplits = 1\n").is_err() && read_block("[lib]\na =\n").is_err());
}

fn keys_of_table(table: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for row in table.lines().take_while(|line| line.starts_with("| `")) {
        keys.push(row.split('`').nth(1).unwrap().to_string());
    }
    keys
}

#[test]
fn the_reference_lists_every_key() {
    let text = include_str!("../../../docs/offload-toml.md");
    let [_, file, module] = text.split("|---|---|---|\n").collect::<Vec<_>>()[..] else {
        panic!("two tables")
    };
    assert_eq!(keys_of_table(file), Layer::KEYS);
    assert_eq!(
        keys_of_table(module).into_iter().collect::<BTreeSet<_>>(),
        Options::KEYS.map(str::to_string).into_iter().collect::<BTreeSet<_>>()
    );
}

mod compression {
    use super::super::*;

    fn parsed(text: &str) -> Result<Compression> {
        crate::settings::read(text, |table| Compression::read(table.required("compression")?))
    }

    fn profile(release: bool) -> Profile {
        Profile { release, optimized: release, level: "0".into(), debug_info: !release }
    }

    fn settings(text: &str, release: bool) -> Result<Settings> {
        Compression::merged(std::iter::once(parsed(text)?), &profile(release))
    }

    #[test]
    fn every_form_has_its_meaning() {
        for (text, release, mode, level) in [
            ("\"none\"", true, Mode::None, 1),
            ("\"fast\"", true, Mode::Fast, 1),
            ("\"balanced\"", false, Mode::Balanced, 19),
            ("\"max\"", false, Mode::Max, 22),
            ("\"archive\"", false, Mode::Archive, 19),
            ("{ level = 7 }", false, Mode::Fast, 7),
            ("{ level = 7 }", true, Mode::Balanced, 7),
            ("{ mode = \"max\", level = 20 }", true, Mode::Max, 20),
        ] {
            let found = settings(&format!("compression = {text}"), release).unwrap();
            assert_eq!(found, Settings { mode, level }, "{text}");
        }
        for (release, mode, level) in [(true, Mode::Balanced, 19), (false, Mode::None, 1)] {
            let usual = Compression::merged(std::iter::empty(), &profile(release)).unwrap();
            assert_eq!(usual, Settings { mode, level });
        }
    }

    #[test]
    fn lzma_is_a_feature() {
        for mode in [Mode::None, Mode::Fast, Mode::Balanced, Mode::Max] {
            let settings = Settings { mode, level: 1 };
            assert_eq!(Compression::supported(settings).unwrap(), settings);
        }
        let archive = Compression::supported(Settings { mode: Mode::Archive, level: 19 });
        let refused = archive.err().and_then(|error| error.hint().map(str::to_string));
        let tells_the_line = refused.is_some_and(|hint| hint.contains("features = [\"archive\"]"));
        assert_eq!(tells_the_line, !cfg!(feature = "archive"));
    }

    #[test]
    fn later_places_win_whole() {
        let places =
            [parsed("compression = { mode = \"max\", level = 20 }"), "7".parse()].map(Result::unwrap);
        assert_eq!(
            Compression::merged(places.into_iter(), &profile(true)).unwrap(),
            Settings { mode: Mode::Balanced, level: 7 }
        );
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for (text, part) in [
            ("\"lots\"", "\"archive\""),
            ("{ level = 0 }", "from 1 to 22"),
            ("{ level = 23 }", "from 1 to 22"),
            ("{ mode = \"none\", level = 3 }", "has no level"),
            ("{ mode = \"archive\", level = 3 }", "has no level"),
            ("{ levels = 3 }", "not a compression"),
            ("19", "not a compression"),
        ] {
            let error = settings(&format!("compression = {text}"), true).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("hint:"), "{text}: {error}");
        }
    }
}
