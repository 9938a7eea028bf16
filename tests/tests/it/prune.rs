//! Programs and plugins lose images, or have them moved into files beside them, and run on.
//!
//! `cargo xtask prune` does the same with every linker, in every profile, and with what strips programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::carried::{Linked, assert_right, count_spirv, stderr, sum};
use crate::support;

#[test]
fn dropped_targets_are_gone_and_told_and_the_others_run() {
    for linked in Linked::each() {
        let whole = linked.run("app", "plug.so");
        assert_right(&whole);
        assert_eq!(count_spirv(&whole), 4, "{whole}");
        for (old, new) in [("app", "small"), ("plug.so", "small.so")] {
            let messages = linked.ok(&["prune", old, "--keep", "host", "-o", new]);
            let dropped = sum(&messages, "dropped", "stored_size");
            let saved = linked.size(old) - linked.size(new);
            assert!(saved * 10 >= dropped * 9, "{} {old}: {saved} of {dropped}", linked.linker);
            assert_eq!(sum(&messages, "pruned", "images_dropped"), 6);
            linked.check_elf(new);
            assert_eq!(mode(&linked.path(old)), mode(&linked.path(new)));
        }
        let text = linked.run("small", "small.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 0);
        let refusal = "spirv64: `cargo offload prune` has removed it from the program";
        assert_eq!(text.matches(refusal).count(), 4, "{text}");

        // Same input, same bytes.
        linked.ok(&["prune", "app", "--keep", "host", "-o", "again"]);
        assert!(fs::read(linked.path("again")).unwrap() == fs::read(linked.path("small")).unwrap());
    }
}

fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions())
}

#[test]
fn a_pruned_program_is_pruned_again_and_its_images_are_checked() {
    for linked in Linked::each() {
        linked.ok(&["prune", "app", "--drop", "opencl-c", "spirv64:*", "-o", "one"]);
        let text = linked.run("one", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 4);
        support::program::copy(&linked.path("one"), &linked.path("two"));
        let before = linked.size("two");
        let messages = linked.ok(&["prune", "two", "--drop", "spirv64", "--in-place"]);
        let dropped = sum(&messages, "dropped", "stored_size");
        let saved = before - linked.size("two");
        assert!(saved * 10 >= dropped * 9, "{}: {saved} of {dropped}", linked.linker);
        linked.check_elf("two");
        let text = linked.run("two", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 2);

        // The image of the pack that comes first.
        support::damage(&linked.path("two"), "host");
        let text = linked.run("two", "plug.so");
        let failed = ["kern_a", "kern_b"].map(|module| {
            text.contains(&format!("\n{module} on the CPU: cannot load {module} for host: "))
                || text.starts_with(&format!("{module} on the CPU: cannot load {module} for host: "))
        });
        assert_eq!(failed.iter().filter(|failed| **failed).count(), 1, "{text}");
    }
}

#[test]
fn programs_are_stripped_before_and_after() {
    for linked in Linked::each() {
        for name in ["app", "plug.so"] {
            let pruned = format!("pruned-{name}");
            linked.ok(&["prune", name, "--keep", "host", "-o", &pruned]);
            strip(&linked, &pruned, &format!("after-{name}"));
            strip(&linked, name, &format!("before-{name}"));
            linked.ok(&["prune", &format!("before-{name}"), "--keep", "host", "--in-place"]);
            linked.check_elf(&format!("before-{name}"));
        }
        assert_right(&linked.run("after-app", "after-plug.so"));
        assert_right(&linked.run("before-app", "before-plug.so"));
        let difference = linked.size("after-app").abs_diff(linked.size("before-app"));
        assert!(difference <= 4096, "{}: {difference}", linked.linker);
    }
}

#[test]
fn the_change_of_bytes_is_told_as_it_is() {
    let mut unchanged = 0;
    let mut smaller = 0;
    for linked in Linked::each() {
        let before = linked.size("app");
        for target in ["opencl-c", "spirv64", "host"] {
            let new = format!("without-{target}");
            let output = linked.offload(&["prune", "app", "--drop", target, "-o", &new]);
            let after = linked.size(&new);
            let output_text = String::from_utf8(output.stdout).unwrap();
            let sizes = if after == before {
                // A program shrinks by whole pages: a text of some hundred bytes frees none.
                unchanged += 1;
                format!("and {after} bytes, unchanged: ")
            } else {
                smaller += 1;
                format!("and {after} of {before} bytes\n")
            };
            assert!(output_text.contains(&sizes), "{} {target}: {output_text}", linked.linker);
            assert_eq!(
                after == before,
                output_text.contains("bytes of removed images span no whole page"),
                "{output_text}"
            );
        }
    }
    assert!(unchanged > 0 && smaller > 0, "{unchanged} unchanged, {smaller} smaller");
}

fn strip(linked: &Linked, from: &str, to: &str) {
    let status =
        Command::new("strip").arg("-o").arg(linked.path(to)).arg(linked.path(from)).status().unwrap();
    assert!(status.success());
}

#[test]
fn images_move_into_files_beside_the_program_and_back() {
    for linked in Linked::each() {
        let app = fs::read(linked.path("app")).unwrap();
        let plug = fs::read(linked.path("plug.so")).unwrap();
        let before = linked.size("app");
        linked.ok(&["repack", "app", "--sidecar", "--in-place"]);
        linked.ok(&["repack", "plug.so", "--split", "--in-place"]);
        let moved = linked.size(&linked.sidecar("app"));
        assert!((before - linked.size("app")) * 10 >= moved * 9, "{}", linked.linker);
        for name in ["app", "plug.so"] {
            linked.check_elf(name);
        }
        let text = linked.run("app", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 4);

        let verified = linked.ok(&["verify", "plug.so"]);
        assert_eq!((sum(&verified, "summary", "images"), sum(&verified, "summary", "problems")), (8, 0));

        // Where a machine has no use for some files, the error names the one that is missing.
        let spirv = linked.sidecar("plug.so.spirv");
        fs::rename(linked.path(&spirv), linked.path("kept")).unwrap();
        let text = linked.run("app", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 2);
        assert!(text.contains(&format!("spirv64: its images are in `{spirv}`")), "{text}");
        assert!(!text.contains("left out of this build"), "{text}");
        let verified = linked.offload(&["verify", "plug.so"]);
        assert_eq!(verified.status.code(), Some(1), "{}", stderr(&verified));
        fs::rename(linked.path("kept"), linked.path(&spirv)).unwrap();

        // The directory of the variable comes first; a file of another build is not used.
        fs::create_dir(linked.path("packs")).unwrap();
        let of_app = linked.sidecar("app");
        let of_plug = linked.sidecar("plug.so.host");
        fs::rename(linked.path(&of_app), linked.path("packs").join(&of_app)).unwrap();
        assert!(!linked.run("app", "plug.so").starts_with("kern_a on the CPU: right"));
        let packs = linked.path("packs").display().to_string();
        assert_right(&linked.run_with("app", "plug.so", &packs));
        fs::copy(linked.path(&of_plug), linked.path(&of_app)).unwrap();
        let text = linked.run("app", "plug.so");
        assert!(text.contains("has one of another build"), "{text}");
        fs::rename(linked.path("packs").join(&of_app), linked.path(&of_app)).unwrap();

        for name in ["app", "plug.so"] {
            linked.ok(&["repack", name, "--embed", "--in-place"]);
            linked.check_elf(name);
        }
        for name in fs::read_dir(linked.dir.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if name.extension().is_some_and(|extension| extension == "offload") {
                fs::remove_file(name).unwrap();
            }
        }
        let text = linked.run("app", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 4);
        // GNU ld puts images at the end, where nothing of the table of segments has to change.
        if linked.linker == "bfd" {
            assert!(
                fs::read(linked.path("app")).unwrap() == app
                    && fs::read(linked.path("plug.so")).unwrap() == plug
            );
        }
    }
}

#[test]
fn what_cannot_be_done_leaves_the_program_alone() {
    let linked = &Linked::each()[0];
    let before = fs::read(linked.path("app")).unwrap();
    for (args, code, text) in [
        (
            &["prune", "app", "--drop", "intel:*", "--in-place"][..],
            2,
            "it has host, opencl-c, spirv64, spirv64:v1.4",
        ),
        (&["prune", "app", "--drop", "spirv46", "--in-place"], 2, "spirv64"),
        (&["prune", "app", "--drop", "portable", "--in-place"], 2, "this would remove every image"),
        (&["prune", "app", "--keep", "*", "--in-place"], 2, "this would remove no image"),
        (&["prune", "app", "--keep", "host", "-o", "plug.so"], 2, "`plug.so` exists"),
        (&["prune", "app", "--keep", "host"], 2, "--in-place"),
        (&["prune", "app", "--in-place"], 2, "--keep"),
        (&["repack", "app", "--embed", "--in-place"], 2, "are already embedded"),
    ] {
        let output = linked.offload(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{args:?}: {}", stderr(&output));
    }
    assert!(fs::read(linked.path("app")).unwrap() == before);
    let mut names: Vec<_> =
        fs::read_dir(linked.dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["app", "plug.so"]);
}

#[test]
fn damaged_headers_are_refused_or_harmless() {
    let (header_step, section_step) = if offload_tests::is_full() { (7, 61) } else { (29, 241) };
    for linked in Linked::each() {
        strip(&linked, "app", "small");
        let good = fs::read(linked.path("small")).unwrap();
        let headers = 64 + 56 * usize::from(good[56]);
        let sections = usize::try_from(u64::from_le_bytes(good[40..48].try_into().unwrap())).unwrap();
        assert!(linked.offload(&["prune", "small", "--keep", "host", "-o", "out"]).status.success());
        let images = extracted(&linked, "out").unwrap();
        assert_eq!(images.len(), 2, "{images:?}");
        let mut refused = 0;
        for at in (0..headers).step_by(header_step).chain((sections..good.len()).step_by(section_step)) {
            let mut bad = good.clone();
            bad[at] ^= 0x90;
            fs::write(linked.path("bad"), &bad).unwrap();
            let _ = fs::remove_file(linked.path("out"));
            let output = linked.offload(&["prune", "bad", "--keep", "host", "-o", "out"]);
            // A panic has the code 101.
            assert!(matches!(output.status.code(), Some(0..=3)), "byte {at}: {}", stderr(&output));
            assert_eq!(output.status.success(), linked.path("out").exists(), "byte {at}");
            if output.status.success() {
                // What is written has every image that stays, or its readers refuse it.
                let found = extracted(&linked, "out");
                assert!(found.is_none_or(|found| found == images), "{} byte {at}", linked.linker);
            } else {
                assert!(stderr(&output).contains("error: "), "byte {at}: {}", stderr(&output));
                refused += 1;
            }
        }
        assert!(refused > 0, "{}: every header is as good as another", linked.linker);
    }
}

/// The files that `extract` writes for a program; `None` if it refuses the program.
fn extracted(linked: &Linked, program: &str) -> Option<BTreeMap<String, Vec<u8>>> {
    let directory = linked.path("images");
    let _ = fs::remove_dir_all(&directory);
    let output = linked.offload(&["extract", program, "-o", "images"]);
    let files = fs::read_dir(&directory).into_iter().flatten().map(|file| file.unwrap().path());
    output.status.success().then(|| {
        files
            .map(|file| (file.file_name().unwrap().display().to_string(), fs::read(&file).unwrap()))
            .collect()
    })
}
