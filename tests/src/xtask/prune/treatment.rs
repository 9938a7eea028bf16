//! Transformations of a program and its plugin (prune, move, strip), and the invariants checked after each sequence.

use std::path::Path;

use serde_json::Value;

use super::programs::{Built, Programs, run};
use offload_tests::error::{Error, Result};
use offload_tests::setup;

/// Steps, in order.
#[derive(Debug)]
pub(super) struct Treatment {
    steps: &'static [Step],
    /// Modules of four that have SPIR-V afterwards; all compute on the CPU.
    spirv: usize,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// `cargo offload` with these words, in place.
    Offload(&'static [&'static str]),
    /// GNU strip with these words.
    Strip(&'static [&'static str]),
    /// llvm-objcopy with these words.
    Objcopy(&'static [&'static str]),
}

impl Step {
    fn text(&self) -> String {
        match self {
            Step::Offload(words) => words.join(" "),
            Step::Strip(words) => [&["strip"], *words].concat().join(" "),
            Step::Objcopy(words) => [&["llvm-objcopy"], *words].concat().join(" "),
        }
    }
}

const PRUNE: Step = Step::Offload(&["prune", "--keep", "host"]);
const PRUNE_FIRST: Step = Step::Offload(&["prune", "--drop", "opencl-c", "spirv64:*"]);
const PRUNE_SECOND: Step = Step::Offload(&["prune", "--drop", "spirv64"]);
const SIDECAR: Step = Step::Offload(&["repack", "--sidecar"]);
const SPLIT: Step = Step::Offload(&["repack", "--split"]);
const EMBED: Step = Step::Offload(&["repack", "--embed"]);
const MERGE: Step = Step::Offload(&["repack", "--merge"]);
const UNMERGE: Step = Step::Offload(&["repack", "--unmerge"]);
const COMPRESS: Step = Step::Offload(&["repack", "--compression", "22"]);
const BESIDE_AND_RAW: Step = Step::Offload(&["repack", "--sidecar", "--compression", "none"]);
const STRIP: Step = Step::Strip(&[]);
const STRIP_DEBUG: Step = Step::Strip(&["--strip-debug"]);
const LLVM_STRIP: Step = Step::Objcopy(&["--strip-all"]);
const STRIP_SECTIONS: Step = Step::Objcopy(&["--strip-sections"]);

pub(super) const TREATMENTS: [Treatment; 22] = [
    Treatment { steps: &[PRUNE], spirv: 0 },
    Treatment { steps: &[PRUNE, STRIP], spirv: 0 },
    Treatment { steps: &[PRUNE, STRIP_DEBUG], spirv: 0 },
    Treatment { steps: &[PRUNE, LLVM_STRIP], spirv: 0 },
    Treatment { steps: &[PRUNE, STRIP_SECTIONS], spirv: 0 },
    Treatment { steps: &[STRIP, PRUNE], spirv: 0 },
    Treatment { steps: &[LLVM_STRIP, PRUNE], spirv: 0 },
    Treatment { steps: &[STRIP_SECTIONS, PRUNE], spirv: 0 },
    Treatment { steps: &[PRUNE_FIRST], spirv: 4 },
    Treatment { steps: &[PRUNE_FIRST, PRUNE_SECOND], spirv: 0 },
    Treatment { steps: &[PRUNE_FIRST, STRIP, PRUNE_SECOND], spirv: 0 },
    Treatment { steps: &[SIDECAR], spirv: 4 },
    Treatment { steps: &[SIDECAR, STRIP, EMBED], spirv: 4 },
    Treatment { steps: &[SPLIT], spirv: 4 },
    Treatment { steps: &[SPLIT, EMBED], spirv: 4 },
    Treatment { steps: &[SIDECAR, EMBED, PRUNE, STRIP], spirv: 0 },
    Treatment { steps: &[MERGE], spirv: 4 },
    Treatment { steps: &[MERGE, STRIP, PRUNE], spirv: 0 },
    Treatment { steps: &[MERGE, SIDECAR, UNMERGE, EMBED], spirv: 4 },
    Treatment { steps: &[COMPRESS, STRIP], spirv: 4 },
    Treatment { steps: &[BESIDE_AND_RAW, PRUNE_FIRST], spirv: 4 },
    Treatment { steps: &[SPLIT, PRUNE_FIRST, PRUNE_SECOND], spirv: 0 },
];

impl Treatment {
    /// Its steps in words.
    pub(super) fn name(&self) -> String {
        self.steps.iter().map(Step::text).collect::<Vec<_>>().join(", ")
    }

    /// Treats copies of the files, runs them, and says what was saved.
    pub(super) fn apply(&self, programs: &Programs<'_>, built: &Built) -> Result<String> {
        let shell = &programs.workspace.shell;
        shell.remove_path(&programs.work)?;
        shell.create_dir(&programs.work)?;
        let program = programs.work.join("app");
        let plugin = programs.work.join("plug.so");
        let mut notes = String::new();
        for (from, to) in [(&built.program, &program), (&built.plugin, &plugin)] {
            std::fs::copy(from, to)?;
            for step in self.steps {
                notes.push_str(&step.apply(programs, to)?);
            }
            check_elf(programs, to)?;
        }
        let is = run(programs.workspace, &program, &plugin)?;
        let want = [4, self.spirv];
        if is == want {
            Ok(notes)
        } else {
            Err(Error::new(format!("modules on the CPU and with SPIR-V: {is:?}, not {want:?}")))
        }
    }
}

impl Step {
    fn apply(self, programs: &Programs<'_>, file: &Path) -> Result<String> {
        let shell = &programs.workspace.shell;
        match self {
            Step::Strip(words) => shell.cmd("strip").args(words).arg(file).quiet().run()?,
            Step::Objcopy(words) => {
                let objcopy = setup::llvm(programs.workspace, "llvm-objcopy");
                let objcopy = objcopy.ok_or_else(|| Error::new("llvm-objcopy is not installed"))?;
                shell.cmd(objcopy).args(words).arg(file).quiet().run()?;
            }
            Step::Offload([command, words @ ..]) => {
                let before = size_with_packs(file)?;
                let cmd = shell.cmd(&programs.cargo_offload).arg(command).arg(file).args(words);
                let messages = cmd.args(["--in-place", "--message-format", "json"]).quiet().read()?;
                return saved(&messages, before, size_with_packs(file)?);
            }
            Step::Offload([]) => {}
        }
        Ok(String::new())
    }
}

/// Of the file and of the packs that are named after it.
fn size_with_packs(file: &Path) -> Result<u64> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut size = 0;
    for entry in std::fs::read_dir(file.parent().unwrap_or(file))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&name) {
            size += entry.metadata()?.len();
        }
    }
    Ok(size)
}

/// Bytes leave a program in pages of this size.
const PAGE: u64 = 4096;

/// The share of the dropped bytes by which the file has shrunk; too small a share is an error, unless less than a page
/// was dropped.
fn saved(messages: &str, before: u64, after: u64) -> Result<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let dropped: u64 = messages.filter_map(|message| message.get("stored_size")?.as_u64()).sum();
    let saved = before.saturating_sub(after);
    if dropped >= PAGE && saved.saturating_mul(10) < dropped.saturating_mul(9) {
        return Err(Error::new(format!("the file shrank by {saved} bytes of {dropped} that were dropped")));
    }
    let percent = saved.saturating_mul(100).checked_div(dropped).filter(|_| dropped >= PAGE);
    Ok(percent.map(|percent| format!(" {percent}%")).unwrap_or_default())
}

fn check_elf(programs: &Programs<'_>, file: &Path) -> Result<()> {
    // Without `-n`: mold 1.10 puts notes of different alignment into one segment, which readelf cannot walk.
    let cmd = programs.workspace.shell.cmd("readelf").args(["-lSWdr"]).arg(file).env("LC_ALL", "C");
    let output = cmd.quiet().output()?;
    let stderr =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let complaint = stderr.lines().find(|line| line.contains("arning:") || line.contains("rror:"));
    complaint.map_or(Ok(()), |line| Err(Error::new(format!("readelf: {line}"))))
}
