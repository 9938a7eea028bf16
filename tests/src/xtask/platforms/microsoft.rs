//! Libraries for programs of the target `x86_64-pc-windows-msvc`, which lld links without Microsoft's SDK: import libraries of
//! MinGW and of `llvm-dlltool`, and a start in place of that of Microsoft's runtime.

use std::path::PathBuf;

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

use super::folder::Folder;

/// The import libraries of MinGW that the standard library names.
const SYSTEM_LIBRARIES: [&str; 5] = ["dbghelp", "kernel32", "ntdll", "userenv", "ws2_32"];
/// Libraries of which there is a list of functions.
const RUNTIME_LIBRARIES: [&str; 2] = ["ucrtbase", "vcruntime140"];
/// The folder of MinGW's.
const MINGW: &str = "/usr/x86_64-w64-mingw32/lib";
/// Sources of what stands for the static part of Microsoft's runtime.
const START: [&str; 2] = ["msvcrt", "msvcrt_start"];
/// A library without members.
const EMPTY_ARCHIVE: &str = "!<arch>\n";

pub(super) const TARGET: &str = "x86_64-pc-windows-msvc";

/// Makes the libraries under the names that rustc gives to the linker.
pub(super) fn make_libraries(workspace: &Workspace, folder: &Folder<'_>) -> Result<()> {
    let shell = &workspace.shell;
    let libraries = shell.create_dir(directory(folder))?;
    for name in SYSTEM_LIBRARIES {
        let library = format!("{MINGW}/lib{name}.a");
        shell.copy_file(library, libraries.join(format!("{name}.lib")))?;
    }
    let sources = folder.path("src/emulators");
    for name in RUNTIME_LIBRARIES {
        let dlltool = shell.cmd("llvm-dlltool-22").args(["-m", "i386:x86-64", "-d"]);
        let dlltool = dlltool.arg(sources.join(format!("{name}.def")));
        dlltool.arg("-l").arg(libraries.join(format!("{name}.lib"))).quiet().run()?;
    }
    let archive = libraries.join("msvcrt.lib");
    shell.remove_path(&archive)?;
    for name in START {
        let object = libraries.join(format!("{name}.obj"));
        let compiler = shell.cmd("clang-22").args(["-target", TARGET, "-O1", "-c", "-o"]).arg(&object);
        compiler.arg(sources.join(format!("{name}.c"))).quiet().run()?;
        shell.cmd("llvm-ar-22").arg("rc").arg(&archive).arg(&object).quiet().run()?;
    }
    shell.write_file(libraries.join("legacy_stdio_definitions.lib"), EMPTY_ARCHIVE)?;
    Ok(())
}

/// Flags for rustc: functions and data that nothing refers to are dropped, and equal ones merged, as in release builds.
pub(super) fn rustflags(folder: &Folder<'_>) -> [String; 3] {
    [
        "-Clinker=rust-lld".to_string(),
        "-Clink-arg=/OPT:REF,ICF".to_string(),
        format!("-Lnative={}", directory(folder).display()),
    ]
}

fn directory(folder: &Folder<'_>) -> PathBuf {
    folder.path("microsoft")
}
