//! candle with CUDA as programs for a machine with an NVIDIA GPU: as it is, and with its kernels by offload-build.

mod libraries;
mod project;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit};
use offload_tests::table::Table;
use offload_tests::workspace::{self, Workspace};

use self::libraries::Libraries;
use self::project::{Program, Project, Side};
use super::crates::Crates;

/// What both sides are made of.
const DEPENDENCIES: &str = "candle-core = { version = \"=0.11.1\", features = [\"cuda\"] }";
/// The GPU that nvcc compiles for: candle compiles for one.
pub(super) const COMPUTE_CAPABILITY: &str = "90";
const TARGETS: &str = "cubin:sm_90";
/// The script of the folder.
const SCRIPT: &str = include_str!("programs/run.sh");

#[derive(Debug, PartialEq, Eq)]
struct ProgramsRequest {
    targets: String,
    folder: Option<PathBuf>,
    run_here: bool,
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let request = parse(args)?;
    setup::ensure(workspace, &[setup::BUILD])?;
    let nvcc = setup::ensure_cuda(workspace, Toolkit::Nvcc)?;
    let ptxas = setup::ensure_cuda(workspace, Toolkit::Ptxas)?;
    let crates = Crates::fetch(workspace, "candle/programs/sources", DEPENDENCIES)?;
    let root = workspace.target_dir.join("candle/programs");
    let libraries =
        Libraries::build(workspace, &nvcc, &crates.directory("cudarc")?, &root.join("libraries"))?;
    let folder = request.folder.unwrap_or_else(|| root.join("folder"));
    workspace.shell.remove_path(&folder)?;
    let mut sizes = Table::new(["program", "bytes"]);
    for side in [Side::Offload { toolkit: ptxas, targets: request.targets }, Side::Nvcc { toolkit: nvcc }] {
        let project = Project::create(workspace, side, &crates, &root)?;
        let programs = project.build(workspace, &libraries)?;
        let place = workspace.shell.create_dir(folder.join(project.name()))?;
        for Program { name, file } in &programs {
            workspace.shell.copy_file(file, place.join(name))?;
            sizes.row([format!("{}/{name}", project.name()), fs::metadata(file)?.len().to_string()]);
        }
    }
    libraries.copy(workspace, &folder)?;
    let script = folder.join("run.sh");
    workspace.shell.write_file(&script, SCRIPT)?;
    workspace.shell.cmd("chmod").args(["755"]).arg(&script).quiet().run()?;
    println!("{sizes}");
    if request.run_here {
        let _in = workspace.shell.push_dir(&folder);
        return Ok(workspace::exit_code(workspace::run_through(
            workspace.shell.cmd("./run.sh").arg("candle"),
        )?));
    }
    pack(workspace, &folder)?;
    println!("copy {} to a machine with NVIDIA's driver, and run there: ./run.sh candle", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// Compresses the programs together, which have the same kernels: what travels may be limited.
fn pack(workspace: &Workspace, folder: &Path) -> Result<()> {
    let _in = workspace.shell.push_dir(folder);
    let tar = workspace.shell.cmd("tar").args(["--create", "--remove-files", "--file", "programs.tar.xz"]);
    // A window that holds all of them, and one thread, whose output is the same everywhere.
    let tar = tar.args(["--use-compress-program", "xz --threads=1 --lzma2=preset=3,dict=192MiB"]);
    Ok(tar.args(["lib", "nvcc", "offload"]).run()?)
}

fn parse(args: &[String]) -> Result<ProgramsRequest> {
    let mut request = ProgramsRequest { targets: TARGETS.to_string(), folder: None, run_here: false };
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| Error::new(format!("`{word}` takes a value")));
        match word.as_str() {
            "--targets" => request.targets.clone_from(value()?),
            "--folder" => request.folder = Some(Path::new(value()?).to_path_buf()),
            "--run-here" => request.run_here = true,
            _ => {
                let error = Error::new(format!("`candle programs` takes no `{}`", word.escape_debug()));
                return Err(error.hint("it takes --targets LIST, --folder DIR and --run-here"));
            }
        }
    }
    // The tasks change their directory.
    request.folder = request.folder.map(std::path::absolute).transpose()?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use serde_json::Value;

    use super::*;

    const MODEL: &str = r#"#!/bin/sh
case $1 in
run) echo '{"device_ms": 1.50, "first_ms": 20.25, "again_ms": 0.500, "all_ms": 90.00}' ;;
compare) echo '{"f32": 1.5e-6}' ;;
esac
"#;
    const TESTS: &str =
        "#!/bin/sh\necho 'test a_gpu ... ok'\necho 'test result: ok. 97 passed; 0 failed; 0 ignored'\n";

    /// Runs the script with these programs.
    fn script(model: &str, tests: &str) -> (bool, Value) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("candle-model", model), ("candle-tests", tests), ("../run.sh", SCRIPT)] {
            for side in ["nvcc", "offload"] {
                fs::create_dir_all(dir.path().join(side)).unwrap();
                let file = dir.path().join(side).join(name);
                fs::write(&file, text).unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let output =
            Command::new(dir.path().join("run.sh")).arg("candle").env("STARTS", "2").output().unwrap();
        let results = fs::read_to_string(dir.path().join("candle.json")).unwrap();
        (output.status.success(), serde_json::from_str(&results).unwrap())
    }

    #[test]
    fn the_script_runs_both_sides_and_writes_one_file() {
        let (success, results) = script(MODEL, TESTS);
        assert!(success, "{results}");
        assert_eq!(results["failed"], "", "{results}");
        for side in ["nvcc", "offload"] {
            assert_eq!(results[side]["tests"]["passed"], 97, "{results}");
            assert_eq!(results[side]["bytes"], MODEL.len(), "{results}");
            assert_eq!(results[side]["first"]["first_ms"], 20.25, "{results}");
            assert_eq!(results[side]["later"].as_array().unwrap().len(), 2, "{results}");
        }
        assert_eq!(results["offload-nvcc"]["f32"], 1.5e-6, "{results}");
    }

    #[test]
    fn the_script_goes_on_after_what_fails() {
        let failing = TESTS
            .replace("ok. 97 passed; 0", "FAILED. 96 passed; 1")
            .replace("#!/bin/sh", "#!/bin/sh\ntrap 'exit 101' EXIT");
        let (success, results) = script(MODEL, &failing);
        assert!(!success, "{results}");
        assert_eq!(results["failed"], "tests-nvcc tests-offload", "{results}");
        assert_eq!(results["nvcc"]["tests"]["failed"], 1, "{results}");
        let (success, results) = script(&MODEL.replace("compare)", "compare) exit 1;;\nother)"), TESTS);
        assert!(!success, "{results}");
        assert_eq!(
            results["failed"], "compare-nvcc-cpu compare-offload-cpu compare-offload-nvcc",
            "{results}"
        );
        assert!(results["offload-nvcc"].is_null(), "{results}");
        assert_eq!(results["offload"]["tests"]["passed"], 97, "{results}");
    }

    #[test]
    fn words_are_parsed() {
        let words =
            ["--targets", "cubin:sm_80,cubin:sm_90", "--folder", "/f", "--run-here"].map(str::to_string);
        let request = parse(&words).unwrap();
        assert_eq!(request.targets, "cubin:sm_80,cubin:sm_90");
        assert_eq!((request.folder, request.run_here), (Some(PathBuf::from("/f")), true));
        assert!(parse(&["--folder".to_string()]).unwrap_err().to_string().contains("`--folder`"));
        assert!(parse(&["here".to_string()]).unwrap_err().to_string().contains("`here`"));
    }
}
