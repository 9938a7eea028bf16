//! Headers that appear on a compiler's search path, and tools that appear on a build's: local and shared caches miss, and
//! cargo runs the build script again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::script::{Files, Places, Script, of_programs, succeed};
use crate::support::{Project, cargo_offload};

/// A kernel, and the header that another checkout of it has as well.
struct Case {
    name: &'static str,
    kernel: &'static str,
    flags: &'static str,
    appears: &'static str,
}

const INCLUDES: &str = "-Iinc/first\n-Iinc/none\n-Iinc/second\n";

const CASES: [Case; 10] = [
    Case {
        name: "a directory earlier on the path",
        kernel: "#include \"head.h\"\n",
        flags: INCLUDES,
        appears: "inc/first/head.h",
    },
    Case {
        name: "beside the file",
        kernel: "#include \"head.h\"\n",
        flags: INCLUDES,
        appears: "kernels/head.h",
    },
    Case {
        name: "a directory that comes into being",
        kernel: "#include <head.h>\n",
        flags: INCLUDES,
        appears: "inc/none/head.h",
    },
    Case {
        name: "a header of a header",
        kernel: "#include <outer.h>\n",
        flags: INCLUDES,
        appears: "inc/first/deep/head.h",
    },
    Case {
        name: "a condition",
        kernel: "#define VALUE 1\n#if __has_include(\"tuned.h\")\n#include \"tuned.h\"\n#endif\n",
        flags: INCLUDES,
        appears: "inc/second/tuned.h",
    },
    Case {
        name: "a condition in a macro",
        kernel: "#define HAS(X) __has_include(X)\n#if HAS(<tuned.h>)\n#include <tuned.h>\n#else\n#define VALUE 1\n#endif\n",
        flags: INCLUDES,
        appears: "inc/first/tuned.h",
    },
    Case {
        name: "a condition that only a preprocessor understands",
        kernel: "#define TEXT(X) #X\n#define VALUE 1\n#if __has_include(TEXT(tuned.h))\n#include \"tuned.h\"\n#endif\n",
        flags: INCLUDES,
        appears: "inc/first/tuned.h",
    },
    Case {
        name: "a name of the command line",
        kernel: "#include HEAD\n",
        flags: "-Iinc/first\n-Iinc/second\n-DHEAD=<head.h>\n",
        appears: "inc/first/head.h",
    },
    Case {
        name: "a name that is computed",
        kernel: "#define TEXT(X) #X\n#include TEXT(head.h)\n",
        flags: INCLUDES,
        appears: "inc/first/head.h",
    },
    Case {
        name: "a flag",
        kernel: "",
        flags: "-Iinc/first\n-Iinc/second\n-include\nhead.h\n",
        appears: "inc/first/head.h",
    },
];

/// A build script for the compilers of this machine.
fn script() -> Script {
    // It is built with stand-ins, which take no time.
    let built = Script::for_project(&Project::with_fake_tools("two-files"));
    built.for_copy(&Project::new("two-files"))
}

/// Builds of the case in several places, without and with the header.
struct Checkouts<'s> {
    script: &'s Script,
    folder: tempfile::TempDir,
    remote: bool,
}

impl Checkouts<'_> {
    fn places(&self, checkout: &str, cache: &str) -> Places {
        let folder = self.folder.path();
        let out = folder.join(format!("{checkout}-{cache}-out"));
        Places { package: folder.join(checkout), out, cache: folder.join(cache) }
    }

    fn write(&self, checkout: &str, case: &Case) {
        let package = self.folder.path().join(checkout);
        write_below(&package, "Cargo.toml", "[package]\nname = \"two-files\"\n");
        write_below(&package, "offload.toml", "targets = [\"opencl-c\"]\n");
        write_below(&package, "flags.txt", case.flags);
        write_below(
            &package,
            "kernels/a.cl",
            &format!("{}kernel void a(global int *x) {{ x[0] = VALUE; }}\n", case.kernel),
        );
        write_below(&package, "kernels/b.cl", "kernel void b(global int *x) { x[0] = 2; }\n");
        write_below(&package, "inc/first/empty", "");
        write_below(&package, "inc/second/head.h", "#undef VALUE\n#define VALUE 1\n");
        write_below(&package, "inc/second/outer.h", "#include \"deep/head.h\"\n");
        write_below(&package, "inc/second/deep/head.h", "#define VALUE 1\n");
        fs::rename(package.join("inc/second/outer.h"), package.join("inc/first/outer.h")).unwrap();
    }

    fn appear(&self, checkout: &str, case: &Case) {
        let path = self.folder.path().join(checkout).join(case.appears);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#undef VALUE\n#define VALUE 7\n").unwrap();
    }

    /// The files that go into the program, and the output of the build script.
    fn build(&self, places: &Places) -> (Files, String) {
        let mut command = self.script.command(places);
        if self.remote {
            let shared = self.folder.path().join("shared");
            command.env("OFFLOAD_REMOTE", shared).env("OFFLOAD_CARGO_OFFLOAD", cargo_offload());
        }
        let output_text = succeed(&mut command);
        (of_programs(&places.out), output_text)
    }
}

fn write_below(package: &Path, name: &str, text: &str) {
    let path = package.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The paths that cargo looks at in place of files that do not exist.
fn watched(places: &Places, output_text: &str) -> Vec<PathBuf> {
    let directory = places.out.join("offload-absent");
    assert!(
        output_text.contains(&format!("cargo::rerun-if-changed={}\n", directory.display())),
        "{output_text}"
    );
    let links = fs::read_dir(directory).unwrap();
    links.map(|link| fs::read_link(link.unwrap().path()).unwrap()).collect()
}

fn is_watched(paths: &[PathBuf], file: &Path) -> bool {
    paths.iter().any(|path| path == file || file.starts_with(path))
}

#[test]
fn a_header_that_appears_is_in_the_next_image() {
    let script = script();
    for case in &CASES {
        let checkouts = Checkouts { script: &script, folder: tempfile::tempdir().unwrap(), remote: false };
        for checkout in ["one", "other"] {
            checkouts.write(checkout, case);
        }
        checkouts.appear("other", case);
        let kept = checkouts.places("one", "cache");
        let (before, output_text) = checkouts.build(&kept);
        let (fresh, _) = checkouts.build(&checkouts.places("other", "own"));
        assert_ne!(before, fresh, "{}", case.name);
        // In a checkout that has had the header from its beginning, beside one that has not.
        let (beside, _) = checkouts.build(&checkouts.places("other", "cache"));
        assert!(beside == fresh, "{}: another checkout", case.name);
        // Without the paths of the lookup, cargo cannot watch them.
        if !case.kernel.contains("__has_include(TEXT") {
            let file = kept.package.join(case.appears);
            assert!(is_watched(&watched(&kept, &output_text), &file), "{}: {}", case.name, file.display());
        }
        checkouts.appear("one", case);
        let (after, _) = checkouts.build(&kept);
        assert!(after == fresh, "{}: the next build", case.name);
        // Gone again.
        fs::remove_file(kept.package.join(case.appears)).unwrap();
        let (gone, _) = checkouts.build(&kept);
        assert!(gone == before, "{}: the build after", case.name);
    }
    offload_tests::figure(CASES.len(), "kinds of headers that appear, 0 images of before");
}

#[test]
fn machines_share_no_result_of_another_search() {
    if !offload_tests::is_nightly() {
        return;
    }
    let script = script();
    for case in &CASES {
        let checkouts = Checkouts { script: &script, folder: tempfile::tempdir().unwrap(), remote: true };
        for checkout in ["one", "other"] {
            checkouts.write(checkout, case);
        }
        checkouts.appear("other", case);
        let (one, _) = checkouts.build(&checkouts.places("one", "first"));
        let (other, _) = checkouts.build(&checkouts.places("other", "second"));
        assert_ne!(one, other, "{}", case.name);
        let (again, _) = checkouts.build(&checkouts.places("one", "third"));
        assert!(again == one, "{}", case.name);
    }
}
