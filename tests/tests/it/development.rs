//! Programs of development builds name large packs in the compile cache; release builds carry theirs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::carried::sidecar;
use crate::device_library::holds;
use crate::support::Project;
use crate::support::script::{Places, Script, files, succeed};
use offload_format::pack::layout::MAGIC;
use offload_format::pack::{Pack, Pages};

/// A project whose images stay in the cache, built.
fn project() -> Project {
    let mut project = Project::with_fake_tools("two-files");
    project.set("OFFLOAD_EMBED", "release");
    // While it is missing, cargo runs the build script each time.
    project.write("flags.txt", "");
    project
}

/// The packs in the project's cache.
fn packs(project: &Project) -> Vec<PathBuf> {
    packs_below(&project.path("cache"))
}

fn packs_below(cache: &Path) -> Vec<PathBuf> {
    let mut packs: Vec<PathBuf> = files(cache).into_keys().map(|file| cache.join(file)).collect();
    packs.retain(|path| path.extension().is_some_and(|end| end == "pack"));
    packs
}

/// Runs a built program with another directory for the cache.
fn run(project: &Project, cache: &str) -> String {
    let output =
        Command::new(project.program()).env("OFFLOAD_CACHE_DIR", project.path(cache)).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_program_reads_its_pack_from_the_cache() {
    let mut project = project();
    let named = project.run(&[]);
    assert_eq!(packs(&project).len(), 1);
    let program = fs::read(project.program()).unwrap();
    project.set("OFFLOAD_EMBED", "always");
    assert_eq!(project.run(&[]), named);
    assert!(named.lines().count() >= 3 && !named.contains("skipped"), "{named}");

    // Nothing of the machine is in it, and its payload is not either.
    let pack = fs::read(&packs(&project)[0]).unwrap();
    assert!(!holds(&program, project.path("cache").to_str().unwrap().as_bytes()));
    assert!(!holds(&program, &pack[pack.len() - 48..]));
    assert!(holds(&program, packs(&project)[0].file_name().unwrap().to_str().unwrap().as_bytes()));
}

/// The index of many images is compressed, in pages: it is read from the cache, from the program, and from beside it.
#[test]
fn the_images_of_an_index_in_pages_are_found_wherever_they_lie() {
    let mut project = project();
    let build = fs::read_to_string(project.path("build.rs")).unwrap();
    let many = build.replace("build.compile(", "build.variants(\"N\", 0..160);\n    build.compile(");
    assert_ne!(build, many);
    project.write("build.rs", &many);
    let named = project.run(&[]);
    let bytes = fs::read(&packs(&project)[0]).unwrap();
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    assert!(pack.head_size() > pack.payload_offset(), "{} images have no pages", pack.image_count());
    assert_eq!(named.lines().filter(|line| line.ends_with(" bytes")).count() as u64, pack.image_count());

    let shown = project.offload(&["verify", project.program().to_str().unwrap()]);
    assert!(shown.success && shown.text.contains(" 0 problems"), "{}", shown.text);
    project.set("OFFLOAD_EMBED", "always");
    assert_eq!(project.run(&[]), named);
    let program = project.program();
    let beside = project.path("beside");
    let arguments = ["repack", program.to_str().unwrap(), "--sidecar", "-o", beside.to_str().unwrap()];
    assert!(project.offload(&arguments).success);
    let output = Command::new(&beside).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), named);
}

/// What the subcommand prints, which succeeds.
fn text(project: &Project, args: &[&str]) -> String {
    let outcome = project.offload(args);
    assert!(outcome.success, "{args:?}: {}", outcome.text);
    outcome.text
}

#[test]
fn the_subcommand_reads_the_pack_in_the_cache() {
    let project = project();
    project.run(&[]);
    let program = project.program();
    let program = program.to_str().unwrap();
    let pack = packs(&project).remove(0);
    let file = pack.file_name().unwrap().to_str().unwrap();
    let shown = text(&project, &["inspect", program]);
    assert!(shown.matches(file).count() >= 3 && shown.contains("intel:pvc"), "{shown}");
    assert!(text(&project, &["verify", program]).contains(" 0 problems"));

    // A program with fewer images, and one with all of them in it, need the cache no more.
    let less = project.path("less");
    let whole = project.path("whole");
    text(&project, &["prune", program, "--drop", "intel:*", "-o", less.to_str().unwrap()]);
    sidecar(&project.path(""), "less");
    text(&project, &["repack", program, "--sidecar", "-o", whole.to_str().unwrap()]);
    fs::remove_file(&pack).unwrap();
    assert!(text(&project, &["inspect", less.to_str().unwrap()]).contains("prune` has removed it"));
    assert!(text(&project, &["inspect", whole.to_str().unwrap()]).contains("intel:pvc"));
    let outcome = project.offload(&["inspect", program]);
    assert!(!outcome.success && outcome.text.contains("is a development build"), "{}", outcome.text);
}

#[test]
fn a_pack_that_has_left_the_cache_is_told_and_made_anew() {
    let project = project();
    let good = project.run(&[]);
    let pack = packs(&project).remove(0);
    // A build that has it changes nothing.
    let written = fs::metadata(&pack).unwrap().modified().unwrap();
    let outcome = project.cargo(&["build", "--offline", "-v"]);
    assert!(outcome.success && !outcome.text.contains("build-script-build`"), "{}", outcome.text);
    assert_eq!(fs::metadata(&pack).unwrap().modified().unwrap(), written);

    let text = run(&project, "elsewhere");
    assert!(
        text.contains("skipped this is a development build") && text.contains("OFFLOAD_CACHE_DIR"),
        "{text}"
    );

    // As a container without a home has it.
    let text = succeed(Command::new(project.program()).env_clear());
    assert!(
        text.contains("skipped this is a development build") && text.contains("HOME are not set"),
        "{text}"
    );
    assert!(text.contains("`embed = \"always\"`"), "{text}");

    project.calls();
    let program = project.program();
    fs::remove_file(&pack).unwrap();
    let output = Command::new(&program).env("OFFLOAD_CACHE_DIR", project.path("cache")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("does not have it") && text.contains("`cargo build` recreates it"), "{text}");
    assert_eq!(project.run(&[]), good);
    assert_eq!((project.calls(), pack.exists()), (Vec::new(), true));

    // Damage to the index is never taken for images.
    let mut bytes = fs::read(&pack).unwrap();
    bytes[70] ^= 1;
    fs::write(&pack, bytes).unwrap();
    let text = run(&project, "cache");
    assert!(text.contains("skipped"), "{text}");
}

/// The build script as cargo starts it for a release.
#[test]
fn build_scripts_of_release_builds_embed_their_images() {
    let project = project();
    let script = Script::for_project(&project);
    let of_development = packs(&project).len();
    let cache = project.path("other-cache");
    let places = Places { package: project.path(""), out: project.path("out"), cache: cache.clone() };
    succeed(&mut script.command(&places));
    assert_eq!((of_development, packs_below(&cache).len()), (1, 0));
    let embedded = files(&places.out).into_values().any(|content| holds(&content, &MAGIC));
    assert!(embedded, "no pack in {}", places.out.display());
}

#[test]
fn release_builds_carry_their_images() {
    if !offload_tests::is_nightly() {
        return;
    }
    let project = project();
    let outcome = project.cargo(&["run", "--quiet", "--offline", "--release"]);
    assert!(outcome.success && !outcome.text.contains("skipped"), "{}", outcome.text);
    assert!(packs(&project).is_empty());
}

#[test]
fn small_packs_are_embedded_and_mistakes_are_named() {
    let mut project = Project::with_fake_tools("two-files");
    project.run(&[]);
    assert!(packs(&project).is_empty());
    project.set("OFFLOAD_EMBED", "never");
    let text = project.fail();
    assert!(text.contains("OFFLOAD_EMBED") && text.contains("\"release\""), "{text}");
}
