//! The images of linked programs are compressed otherwise, shared by crates, and pruned where they lie beside the program.

use std::collections::BTreeSet;
use std::fs;

use crate::carried::{Linked, assert_right, count_spirv, stderr, sum};
use serde_json::Value;

/// Both modules of the program and of the plugin are right on the CPU, and `spirv` of the four have SPIR-V.
fn assert_runs(linked: &Linked, program: &str, spirv: usize) {
    let text = linked.run(program, "plug.so");
    assert_right(&text);
    assert_eq!(count_spirv(&text), spirv, "{} {program}: {text}", linked.linker);
}

/// The images of a file, as `package module target hash`, and what they take there.
fn listed(linked: &Linked, file: &str) -> (BTreeSet<String>, u64) {
    let messages = linked.ok(&["inspect", file]);
    let images: Vec<&Value> = messages.iter().filter(|message| message["reason"] == "image").collect();
    let mut names = BTreeSet::new();
    for image in images {
        let fields = ["package", "module", "target", "hash"].map(|field| image[field].as_str().unwrap());
        names.insert(fields.join(" "));
    }
    (names, sum(&messages, "image", "stored_size"))
}

/// Images that are stored relative to one that the pack does not list: another crate's.
fn borrowers(linked: &Linked, file: &str) -> usize {
    let messages = linked.ok(&["inspect", file]);
    let images: Vec<&Value> = messages.iter().filter(|message| message["reason"] == "image").collect();
    images
        .iter()
        .filter(|image| {
            image["parent"].as_str().is_some_and(|parent| {
                !images.iter().any(|other| other["package"] == image["package"] && other["hash"] == parent)
            })
        })
        .count()
}

#[test]
fn images_are_compressed_otherwise_in_the_room_that_there_is() {
    for linked in Linked::each() {
        let (images, stored) = listed(&linked, "app");
        linked.ok(&["repack", "app", "--compression", "max", "-o", "max"]);
        linked.check_elf("max");
        assert_runs(&linked, "max", 4);
        let (same, smaller) = listed(&linked, "max");
        assert_eq!(same, images);
        assert!(smaller <= stored, "{smaller} {stored}");

        // Images as they are take more than the room; GNU ld's ends the file, so that it grows.
        let output = linked.offload(&["repack", "max", "--compression", "none", "-o", "none"]);
        if linked.linker == "rust-lld" {
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
            assert!(stderr(&output).contains("hint: `--sidecar` puts them"), "{}", stderr(&output));
        }
        linked.ok(&["repack", "max", "--sidecar", "--compression", "none", "-o", "beside"]);
        assert_runs(&linked, "beside", 4);
        let (same, larger) = listed(&linked, &linked.sidecar("beside"));
        assert_eq!(same, images);
        assert!(larger > stored, "{larger} {stored}");
        linked.ok(&["repack", "beside", "--embed", "--compression", "19", "--in-place"]);
        assert_runs(&linked, "beside", 4);
        assert_eq!(listed(&linked, "beside").0, images);
    }
}

#[test]
fn crates_share_and_stop_sharing() {
    for linked in Linked::each() {
        let (images, stored) = listed(&linked, "app");
        linked.ok(&["repack", "app", "--merge", "-o", "merged"]);
        linked.check_elf("merged");
        assert_runs(&linked, "merged", 4);
        let (same, shared) = listed(&linked, "merged");
        assert_eq!(same, images);
        // The two crates have the same kernel with other numbers.
        assert!(shared < stored * 3 / 4, "{}: {shared} of {stored}", linked.linker);
        assert!(borrowers(&linked, "merged") > 0 && borrowers(&linked, "app") == 0);

        // What shares goes on sharing in other places.
        linked.ok(&["repack", "merged", "--sidecar", "-o", "moved"]);
        assert_runs(&linked, "moved", 4);
        assert_eq!(listed(&linked, &linked.sidecar("moved")), (images.clone(), shared));
        linked.ok(&["repack", "merged", "--split", "-o", "cut"]);
        assert_runs(&linked, "cut", 4);
        let verified = linked.ok(&["verify", "cut"]);
        assert_eq!((sum(&verified, "summary", "images"), sum(&verified, "summary", "problems")), (8, 0));
        linked.ok(&["repack", "moved", "--embed", "--in-place"]);
        assert!(fs::read(linked.path("moved")).unwrap() == fs::read(linked.path("merged")).unwrap());
        linked.ok(&["prune", "merged", "--keep", "spirv64", "host", "-o", "fewer"]);
        assert_runs(&linked, "fewer", 4);
        assert!(borrowers(&linked, "fewer") > 0);

        linked.ok(&["repack", "moved", "--sidecar", "--unmerge", "--in-place"]);
        assert_runs(&linked, "moved", 4);
        let moved = linked.sidecar("moved");
        assert_eq!((listed(&linked, &moved).0, borrowers(&linked, &moved)), (images, 0));
        // Nothing of the others stays behind.
        linked.ok(&["repack", "app", "--sidecar", "-o", "apart"]);
        let again = linked.size(&moved);
        let apart = linked.size(&linked.sidecar("apart"));
        assert!(again < apart + apart / 10, "{}: {again}, {apart}", linked.linker);
    }
}

#[test]
fn images_in_other_files_are_shown_with_the_program() {
    for linked in Linked::each() {
        let whole = listed(&linked, "app");
        for form in ["--sidecar", "--split"] {
            linked.ok(&["repack", "app", form, "-o", "moved"]);
            assert_eq!(listed(&linked, "moved").0, whole.0, "{} {form}", linked.linker);
            let moved = sum(&linked.ok(&["report", "moved"]), "summary", "kernels");
            assert_eq!(moved, sum(&linked.ok(&["report", "app"]), "summary", "kernels"));
            fs::remove_file(linked.path("moved")).unwrap();
        }
        linked.ok(&["repack", "app", "--split", "-o", "again"]);
        let host = linked.sidecar("again.host");
        fs::remove_file(linked.path(&host)).unwrap();
        let output = linked.offload(&["inspect", "again"]);
        let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{output_text}");
        assert!(output_text.contains(&format!("missing: cannot open `{host}`")), "{output_text}");
        assert!(
            output_text.contains("it would have kern_a host") && output_text.contains("spirv64"),
            "{output_text}"
        );
    }
}

/// How many sidecars begin with each of these names.
fn count_sidecars(linked: &Linked, starts: [&str; 3]) -> [usize; 3] {
    starts.map(|start| linked.sidecars(start).len())
}

#[test]
fn programs_are_pruned_with_the_files_beside_them() {
    for linked in Linked::each() {
        linked.ok(&["repack", "app", "--split", "--in-place"]);
        let before = linked.size(&linked.sidecar("app.spirv"));
        let messages = linked.ok(&["prune", "app", "--drop", "spirv64:v1.4", "opencl-c", "--in-place"]);
        assert_eq!(sum(&messages, "pruned", "images_dropped"), 4);
        assert!(linked.size(&linked.sidecar("app.spirv")) < before);
        assert_runs(&linked, "app", 4);
        linked.check_elf("app");
        let verified = linked.ok(&["verify", "app"]);
        assert_eq!((sum(&verified, "summary", "images"), sum(&verified, "summary", "problems")), (4, 0));

        // Another program has files of its own; the old one stays whole.
        linked.ok(&["prune", "app", "--keep", "host", "-o", "small"]);
        assert_runs(&linked, "small", 2);
        assert_runs(&linked, "app", 4);
        assert_eq!(count_sidecars(&linked, ["small.host", "app.spirv", "small.spirv"]), [1, 1, 0]);

        // Files of which the program needs nothing any more go when it is changed in place.
        let starts = ["small.host", "app.source", "app.host"];
        assert_eq!(count_sidecars(&linked, starts), [1, 0, 1]);
        linked.ok(&["repack", "small", "--embed", "--in-place"]);
        assert_runs(&linked, "small", 2);
        assert_eq!(count_sidecars(&linked, starts), [0, 0, 1]);

        let host = linked.sidecar("app.host");
        fs::remove_file(linked.path(&host)).unwrap();
        let output = linked.offload(&["prune", "app", "--keep", "host", "--in-place"]);
        assert_eq!(output.status.code(), Some(3));
        assert!(stderr(&output).contains(&host) && stderr(&output).contains("hint:"));
    }
}

#[test]
fn files_of_packs_are_pruned_and_compressed() {
    let linked = &Linked::each()[0];
    linked.ok(&["repack", "app", "--sidecar", "--in-place"]);
    let sidecar = linked.sidecar("app");
    let (images, stored) = listed(linked, &sidecar);
    linked.ok(&["prune", &sidecar, "--keep", "host", "-o", "host.offload"]);
    let (fewer, _) = listed(linked, "host.offload");
    assert_eq!((fewer.len(), fewer.is_subset(&images)), (2, true));
    linked.ok(&["repack", &sidecar, "--merge", "-o", "merged.offload"]);
    let (same, shared) = listed(linked, "merged.offload");
    assert!(same == images && shared < stored);
    linked.ok(&["verify", "merged.offload"]);
    for (args, text) in [
        (&["repack", "merged.offload", "--sidecar", "--in-place"][..], "is a file of packs"),
        (&["repack", "app", "--in-place"], "--merge"),
        (&["repack", "app", "--merge", "--unmerge", "--in-place"], "cannot be used with"),
        (&["repack", "app", "--compression", "lots", "--in-place"], "from 1 to 22"),
    ] {
        let output = linked.offload(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(text), "{args:?}: {}", stderr(&output));
    }
}
