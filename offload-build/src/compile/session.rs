//! The state of a compilation: parts that all modules of a build script share, the current module, and the units that
//! become images.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use offload_format::pack::{KernelInfo, NewImage};
use offload_format::{Aspects, Target};
use offload_ir::Kernel;

use crate::cache::{Blob, Cache, Key, Memo, read_texts};
use crate::compile::files::ReadyFiles;
use crate::env::CargoEnv;
use crate::error::Result;
use crate::module::{Library, SourceFile, Sources};
use crate::options::Split;
use crate::progress::Progress;
use crate::remote::Remote;
use crate::tool::Context;
use crate::toolchain::Tools;
use crate::vendor::{UseVendored, VendoredPackage};
use offload_cache::{Origin, Origins};

/// State that all modules of a build script share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(super) tools: &'a Tools<'a>,
    /// The progress file, if there is one.
    pub(super) progress: Option<Progress>,
    pub(super) vendored: VendoredPackage,
    /// The service that lends other machines, if one is configured.
    pub(super) remote: Option<&'a Remote>,
    /// Results of front ends in this build: targets that share one see the same files, even if they are edited meanwhile,
    /// and read them once.
    pub(super) front_ends: Memo<Key, FrontEndResult>,
    pub(super) files: ReadyFiles,
    /// Where this build has written or compared the headers of ours.
    pub(super) own_headers: Mutex<Option<PathBuf>>,
}

/// The result of a front end, from this build or an earlier one.
#[derive(Clone, Debug)]
pub(super) struct FrontEndResult {
    pub(super) output: Blob,
    /// What the compiler printed.
    pub(super) printed: String,
    /// The files that it read, as it named them.
    pub(super) read: Vec<PathBuf>,
}

/// The compilation of one module in one variant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) sources: &'a Sources,
    /// Where the results of this compile are from, if it is for one target.
    origins: Option<&'a Origins>,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(tools: &'a Tools<'a>, remote: Option<&'a Remote>, used: UseVendored) -> Shared<'a> {
        let env = &tools.context.env;
        let mut vendored = VendoredPackage::default();
        vendored.used = used;
        Shared {
            tools,
            progress: Progress::from_env(env),
            vendored,
            remote,
            front_ends: Memo::default(),
            files: ReadyFiles::default(),
            own_headers: Mutex::default(),
        }
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, sources: &'a Sources) -> Session<'a> {
        Session { shared, sources, origins: None }
    }

    /// The same for one target, whose results `origins` gets.
    pub(super) fn counted<'b>(&self, origins: &'b Origins) -> Session<'b>
    where
        'a: 'b,
    {
        Session { origins: Some(origins), ..*self }
    }

    /// A result was found or made.
    pub(super) fn count(&self, origin: Origin) {
        self.context().tally.count(origin);
        if let Some(origins) = self.origins {
            origins.add(origin);
        }
    }

    pub(super) fn tools(&self) -> &'a Tools<'a> {
        self.shared.tools
    }

    pub(super) fn context(&self) -> &'a Context {
        self.shared.tools.context
    }

    pub(super) fn env(&self) -> &'a CargoEnv {
        &self.context().env
    }

    /// The directory that the paths of the sources are relative to.
    pub(super) fn root(&self) -> &'a Path {
        &self.sources.origin.root
    }

    /// The compilation of a library that the module imports.
    pub(super) fn for_library(&self, library: &'a Library) -> Session<'a> {
        Session { sources: &library.sources, ..*self }
    }

    /// Whether the sources are those of another package, whose own build has shown what compilers say of them.
    pub(super) fn is_of_other_package(&self) -> bool {
        self.root() != self.env().manifest_dir
    }

    pub(super) fn cache(&self) -> &'a Cache {
        &self.context().cache
    }
}

/// A file that the front end has read: its IR for the machine that was scanned for, and its kernels.
#[derive(Clone, Debug)]
pub(crate) struct Scanned {
    pub(super) file: SourceFile,
    pub(super) ir: Blob,
    pub(super) kernels: Vec<Kernel>,
    /// Functions of the file that have no code for the target; no kernel comes to them.
    pub(super) foreign: BTreeSet<String>,
}

impl Scanned {
    /// A file whose functions all have code.
    pub(super) fn new(file: &SourceFile, ir: Blob, kernels: Vec<Kernel>) -> Scanned {
        Scanned { file: file.clone(), ir, kernels, foreign: BTreeSet::new() }
    }
}

/// All files of a module, and what they import.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    pub(super) files: Vec<Scanned>,
    /// IR of the libraries, for the same machine.
    pub(super) libraries: Vec<Blob>,
}

/// Some kernels of a module, with all its files.
#[derive(Debug)]
pub(crate) struct Unit<'a> {
    pub(super) scan: &'a Scan,
    /// Empty for the whole module.
    pub(super) part: String,
    pub(super) kernels: Vec<&'a Kernel>,
}

impl<'a> Unit<'a> {
    /// The units of a module.
    pub(super) fn split(scan: &'a Scan, how: Split) -> Result<Vec<Unit<'a>>> {
        let whole = Unit::whole(scan);
        let mut parts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        match how {
            Split::None => return Ok(vec![whole]),
            Split::Kernel => {
                parts.extend(whole.names().into_iter().map(|name| (name.to_string(), vec![name])))
            }
            Split::Source => {
                for file in &scan.files {
                    let names = file.kernels.iter().map(|kernel| kernel.name.as_str());
                    parts.entry(file.file.path.display().to_string()).or_default().extend(names);
                }
            }
            Split::Aspect => {
                let aspects = scan.aspects()?;
                for name in whole.names() {
                    let aspects = aspects.get(name).copied().unwrap_or_default();
                    let part = if aspects.is_empty() {
                        "basic".to_string()
                    } else {
                        aspects.to_string().replace(", ", "+")
                    };
                    parts.entry(part).or_default().push(name);
                }
            }
        }
        // One part is the whole.
        if parts.len() < 2 {
            return Ok(vec![whole]);
        }
        let units = parts.iter().map(|(part, names)| whole.only(part, |name| names.contains(&name)));
        Ok(units.filter(|unit| !unit.kernels.is_empty()).collect())
    }

    /// All kernels.
    pub(super) fn whole(scan: &'a Scan) -> Unit<'a> {
        Unit {
            scan,
            part: String::new(),
            kernels: scan.files.iter().flat_map(|file| &file.kernels).collect(),
        }
    }

    /// The same with only the kernels that `keep`.
    pub(super) fn only(&self, part: &str, keep: impl Fn(&str) -> bool) -> Unit<'a> {
        let kernels = self.kernels.iter().copied().filter(|kernel| keep(&kernel.name)).collect();
        let part =
            [self.part.as_str(), part].iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>();
        Unit { scan: self.scan, part: part.join("."), kernels }
    }

    pub(super) fn names(&self) -> Vec<&'a str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str()).collect()
    }

    pub(super) fn records(&self) -> Vec<KernelInfo> {
        self.kernels.iter().map(|kernel| kernel.record()).collect()
    }

    /// The record of an image of these kernels.
    pub(super) fn image_record(&self, session: &Session<'_>, target: Target) -> NewImage {
        NewImage {
            variant: session.sources.variant.to_string(),
            part: self.part.clone(),
            kernels: self.records(),
            spec: session.sources.spec.clone(),
            ..NewImage::new(&session.sources.module, target)
        }
    }
}

impl Scan {
    /// The same with the kernels that the settings leave to `target`.
    pub(super) fn by_settings(mut self, session: &Session<'_>, target: &Target) -> Scan {
        let options = &session.sources.options;
        if options.has_kernel_targets() {
            for file in &mut self.files {
                file.kernels.retain(|kernel| options.left_out_of(&kernel.name, target).is_none());
            }
        }
        self
    }

    /// Whether no kernel is left.
    pub(super) fn has_no_kernel(&self) -> bool {
        self.files.iter().all(|file| file.kernels.is_empty())
    }

    /// What each kernel, with everything it calls, needs of the device.
    pub(super) fn aspects(&self) -> Result<BTreeMap<String, Aspects>> {
        let modules = self.files.iter().map(|file| &file.ir).chain(&self.libraries);
        let texts = read_texts(modules)?;
        let mut aspects = offload_ir::aspects(&texts.concat());
        // A library may have kernels of its own.
        aspects.retain(|name, _| self.files.iter().flat_map(|file| &file.kernels).any(|it| it.name == *name));
        Ok(aspects)
    }
}
