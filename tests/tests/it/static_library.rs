//! A static library with kernels in it and in a crate that it depends on, linked into C programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::Project;

/// What Rust's standard library needs of the system, as `--print native-static-libs` says.
const SYSTEM: [&str; 7] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

struct Library {
    project: Project,
    file: PathBuf,
}

impl Library {
    fn build(embed: &str) -> Library {
        let mut project = Project::with_fake_tools("static-library");
        project.set("OFFLOAD_EMBED", embed);
        let outcome = project.cargo(&["build", "--offline", "--message-format=json"]);
        assert!(outcome.success, "{}", outcome.text);
        let messages = outcome.text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let file = messages
            .filter_map(|message| {
                let name = message["filenames"][0].as_str()?;
                name.ends_with(".a").then(|| PathBuf::from(name))
            })
            .next_back()
            .unwrap();
        Library { project, file }
    }

    /// Links the C program, with arguments for the C compiler.
    fn link(&self, args: &[String]) -> (Output, PathBuf) {
        let program = self.project.path("program");
        let mut cc = Command::new("cc");
        cc.args(args).arg("-o").arg(&program).arg(self.project.path("main.c")).arg(&self.file).args(SYSTEM);
        (cc.output().unwrap(), program)
    }
}

/// The linkers of this machine, as arguments for the C compiler: gcc knows LLD by its plain name alone.
fn linkers(directory: &Path) -> Vec<(&'static str, Vec<String>)> {
    let mut linkers = vec![("bfd", vec!["-fuse-ld=bfd".to_string()])];
    if let Some(lld) = find_program("ld.lld-22").or_else(|| find_program("ld.lld")) {
        std::os::unix::fs::symlink(lld.canonicalize().unwrap(), directory.join("ld.lld")).unwrap();
        linkers.push(("lld", vec![format!("-B{}", directory.display()), "-fuse-ld=lld".into()]));
    }
    for (name, program) in [("mold", "mold"), ("gold", "ld.gold")] {
        linkers.extend(find_program(program).map(|_| (name, vec![format!("-fuse-ld={name}")])));
    }
    linkers
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}

fn output_text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[test]
fn a_c_program_finds_the_images_of_a_static_library() {
    let library = Library::build("library");
    let directory = tempfile::tempdir().unwrap();
    let linkers = linkers(directory.path());
    for (name, args) in &linkers {
        // As it is, with garbage collection of sections, and stripped.
        for more in [&[][..], &["-Wl,--gc-sections"], &["-Wl,--gc-sections", "-s"]] {
            let args: Vec<String> =
                args.iter().cloned().chain(more.iter().map(ToString::to_string)).collect();
            let (linked, program) = library.link(&args);
            assert!(linked.status.success(), "{name} {more:?}: {}", output_text(&linked));
            let ran = Command::new(&program).output().unwrap();
            assert_eq!(output_text(&ran), "2 images\n", "{name} {more:?}");
            let verified = library.project.offload(&["verify", program.to_str().unwrap()]);
            assert!(verified.success && verified.text.contains("2 images"), "{name}: {}", verified.text);
        }
    }
    println!("linked by {:?}", linkers.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

/// The archives with images lie in build directories, where no C compiler looks.
#[test]
fn without_the_setting_the_linker_names_what_it_lacks() {
    let library = Library::build("always");
    let (linked, _) = library.link(&[]);
    assert!(!linked.status.success());
    assert!(output_text(&linked).contains("__offload_anchor"), "{}", output_text(&linked));
}
