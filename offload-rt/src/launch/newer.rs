//! Hot reload: images from a folder of `cargo offload dev` that replace a program's own while it runs.
//!
//! Only development builds have it. A launch checks whether the file is newer, if an environment variable names the folder.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

#[allow(unsafe_code, reason = "asks the system for its user")]
mod folder;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::variable::RELOAD_DIR;
use offload_format::Hash128;
use offload_format::pack::{ArgInfo, IN_USE, KernelInfo, in_use_line, newer_file};

use crate::error::Error;
use crate::index::Index;
use crate::sections::{PackBytes, PackSource, PackSources};
use crate::select::{self, Selection};
use crate::text::escape;

/// The newer images of a program `P`, which was made of a selection.
#[derive(Debug)]
pub(super) struct Newer<P> {
    folder: PathBuf,
    file: PathBuf,
    /// The program's own selection, for which its calls were compiled.
    first: Selection,
    state: Mutex<ReloadState<P>>,
    /// The bytes that the program has written to variables of its images.
    globals: Mutex<BTreeMap<String, Vec<u8>>>,
}

#[derive(Debug)]
struct ReloadState<P> {
    /// The file that was looked at last.
    seen: Option<Stamp>,
    /// The selection of the newest program.
    current: Selection,
    newest: Option<Arc<Newest<P>>>,
}

/// The program of the newest images that could be taken.
#[derive(Debug)]
pub(super) struct Newest<P> {
    /// Counts those that were taken.
    pub(super) number: u64,
    pub(super) program: P,
}

/// Two files of one name have different ones: a build writes a new file, which takes the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    size: u64,
}

impl<P> Newer<P> {
    /// Those for a program of `selection`; `None` if the program is to stay as it is.
    pub(super) fn from_env(selection: &Selection) -> Option<Newer<P>> {
        let folder = std::env::var_os(RELOAD_DIR).filter(|folder| !folder.is_empty())?;
        Newer::in_folder(folder.into(), selection)
            // The terminal may be gone.
            .inspect_err(|problem| drop(writeln!(io::stderr(), "{problem}")))
            .ok()?
    }

    /// `None` if the names of the selection cannot be those of a file.
    ///
    /// # Errors
    /// Others may write to the folder.
    fn in_folder(folder: PathBuf, selection: &Selection) -> Result<Option<Newer<P>>, String> {
        folder::check(&folder)?;
        let entry = selection.entry();
        let name = newer_file(entry.package(), entry.package_version(), entry.module());
        let Some(name) = name else { return Ok(None) };
        let file = folder.join(name);
        let state = ReloadState { seen: None, current: selection.clone(), newest: None };
        let newer = Newer {
            folder,
            file,
            first: selection.clone(),
            state: Mutex::new(state),
            globals: Mutex::default(),
        };
        // Without it, all targets are compiled.
        let _ = newer.tell_targets();
        Ok(Some(newer))
    }

    /// The program of the newest images; `None` if there are none. `open` makes it of a selection.
    pub(super) fn newest(&self, open: impl FnOnce(&Selection) -> Result<P, Error>) -> Option<Arc<Newest<P>>> {
        let stamp = self.stamp();
        let mut state = self.state();
        if stamp.is_some() && stamp != state.seen {
            state.seen = stamp;
            let number = state.newest.as_ref().map_or(1, |newest| newest.number.saturating_add(1));
            match self.taken(&state.current, open) {
                Ok(Some((selection, program))) => {
                    state.current = selection;
                    state.newest = Some(Arc::new(Newest { number, program }));
                }
                Ok(None) => {}
                Err(problem) => self.refuse(&problem, stamp),
            }
        }
        state.newest.clone()
    }

    /// Notes what was written to a variable, for images that come.
    pub(super) fn wrote_global(&self, name: &str, bytes: &[u8]) {
        self.globals().insert(name.to_string(), bytes.to_vec());
    }

    /// The variables that were written to, and their bytes.
    pub(super) fn globals(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.globals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows why something of the newest images is not taken, once for all programs of a process that say the same.
    pub(super) fn refuse_kernel(&self, problem: &Error) {
        self.refuse(&problem.to_string(), self.stamp());
    }

    /// The selection and program of the file, if it differs from `current`.
    fn taken(
        &self,
        current: &Selection,
        open: impl FnOnce(&Selection) -> Result<P, Error>,
    ) -> Result<Option<(Selection, P)>, String> {
        folder::check(&self.folder)?;
        let bytes = fs::read(&self.file).map_err(|error| error.to_string())?;
        let pack = PackSource { bytes: PackBytes::Owned(bytes.into()), home: None };
        let index = Arc::new(Index::new(PackSources { packs: vec![pack], unreadable: Vec::new() }));
        let target = self.first.entry().target_text();
        // It was compiled for other devices, and comes again for this one, of which `cargo offload dev` has heard by now.
        if !index.lists().entries.iter().any(|entry| entry.target_text() == target) {
            return Ok(None);
        }
        let selection = select::again(&self.first, &index).map_err(|error| error.to_string())?;
        if is_same(current, &selection) {
            return Ok(None);
        }
        changed(self.first.kernels(), selection.kernels()).map_or(Ok(()), Err)?;
        let program = open(&selection).map_err(|error| error.to_string())?;
        Ok(Some((selection, program)))
    }

    fn refuse(&self, problem: &str, stamp: Option<Stamp>) {
        let module = escape(self.first.entry().module());
        let text = format!("the program keeps the previous kernels of `{module}`: {problem}");
        let hash = Hash128::digest(format!("{text}{stamp:?}").as_bytes());
        // Each program, device and thread finds the problem by itself: the file makes one message of them. The terminal
        // may be closed.
        if File::create_new(self.folder.join(format!("{REPORTED_PREFIX}{hash}"))).is_ok() {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    fn tell_targets(&self) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(self.folder.join(IN_USE))?;
        for entry in self.first.entries() {
            let line = in_use_line(entry.package(), entry.package_version(), entry.target_text());
            file.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn stamp(&self) -> Option<Stamp> {
        let file = fs::metadata(&self.file).ok()?;
        Some(Stamp { modified: file.modified().ok()?, size: file.len() })
    }

    fn state(&self) -> MutexGuard<'_, ReloadState<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether both have the same images.
fn is_same(one: &Selection, other: &Selection) -> bool {
    let one = one.entries().iter().map(|entry| (entry.part(), entry.hash()));
    let other = other.entries().iter().map(|entry| (entry.part(), entry.hash()));
    one.eq(other)
}

/// Prefix of the files that stand for reported problems.
const REPORTED_PREFIX: &str = "reported-";

const HINT: &str = "hint: end the program and start `cargo offload dev` again, so that its calls are compiled for the new kernels";

/// Why calls that were written for the kernels `old` do not fit `new`.
fn changed(old: &[KernelInfo], new: &[KernelInfo]) -> Option<String> {
    old.iter().find_map(|old| {
        let name = escape(&old.name);
        let problem = match new.iter().find(|new| new.name == old.name) {
            None => "is gone".to_string(),
            Some(new) if new.required_work_group != old.required_work_group => {
                "requires another work-group".to_string()
            }
            Some(new) => arguments(old.args.as_deref()?, new.args.as_deref()?)?,
        };
        Some(format!("kernel `{name}` {problem}\n{HINT}"))
    })
}

/// The difference between the arguments of two versions of a kernel. Names may change: no call has them.
fn arguments(old: &[ArgInfo], new: &[ArgInfo]) -> Option<String> {
    if old.len() != new.len() {
        return Some(format!("takes {} arguments now, and took {}", new.len(), old.len()));
    }
    let place = old.iter().zip(new).position(|(old, new)| !is_same_argument(old, new))?;
    let old = old.get(place)?;
    let new = new.get(place)?;
    Some(format!("takes `{}` as argument {place} now, and took `{}`", shown(new), shown(old)))
}

fn is_same_argument(old: &ArgInfo, new: &ArgInfo) -> bool {
    let same_type = old.base_type == new.base_type || old.base_type.is_empty() || new.base_type.is_empty();
    same_type && old.kind == new.kind && old.size == new.size && old.is_const == new.is_const
}

fn shown(arg: &ArgInfo) -> String {
    let constant = if arg.is_const { "const " } else { "" };
    let kind = arg.kind.to_string();
    let type_name = if arg.type_name.is_empty() { &arg.base_type } else { &arg.type_name };
    let words = [kind.as_str(), &format!("{constant}{type_name}"), &arg.name];
    let words: Vec<&str> = words.into_iter().map(str::trim).filter(|word| !word.is_empty()).collect();
    escape(&words.join(" "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use offload_format::codec::{self, Codec};
    use offload_format::pack::{ArgKind, NewImage, PackBuilder};

    use super::*;
    use crate::{Device, Registry};

    /// A folder as `cargo offload dev` makes it, whatever the umask is.
    fn private() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        }
        folder
    }

    /// A pack with images of the variants of a module, each with this text.
    fn pack(target: &str, variants: &[&str], kernels: &[KernelInfo], text: &str) -> Vec<u8> {
        let frames: Vec<_> = variants
            .iter()
            .map(|variant| codec::encode(format!("{variant} {text}").as_bytes(), Codec::Raw, 0).unwrap())
            .collect();
        let mut builder = PackBuilder::new("p", "1.0.0");
        for (variant, frame) in variants.iter().zip(&frames) {
            let image = NewImage {
                variant: (*variant).into(),
                kernels: kernels.to_vec(),
                ..NewImage::new("m", target.parse().unwrap())
            };
            builder.image(image, frame.info()).unwrap();
        }
        builder.finish().unwrap().with_frames(&frames).unwrap()
    }

    /// As `cargo offload dev` puts it there: whole, and newer than the one before.
    fn publish(folder: &Path, bytes: &[u8]) {
        let unfinished = folder.join("unfinished");
        let path = folder.join("p@1.0.0@m.pack");
        fs::write(&unfinished, bytes).unwrap();
        let before = fs::metadata(&path).and_then(|file| file.modified()).ok();
        let after = before.map_or_else(SystemTime::now, |time| time + std::time::Duration::from_secs(1));
        File::options().write(true).open(&unfinished).unwrap().set_modified(after).unwrap();
        fs::rename(unfinished, path).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_that_others_may_write_to_is_left_alone() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::from_pack(pack("host", &[""], &kernel(&[]), "old"));
        let selection = registry.request("m").select(&Device::host()).unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(Newer::<String>::in_folder(folder.path().to_path_buf(), &selection).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let newer = Newer::<String>::in_folder(folder.path().to_path_buf(), &selection).unwrap().unwrap();
        // A folder that becomes writable for others later is not read either.
        set_permissions(folder.path(), Permissions::from_mode(0o770)).unwrap();
        publish(folder.path(), &pack("host", &[""], &kernel(&[]), "new"));
        assert!(newer.newest(|_| Ok(String::new())).is_none());
    }

    /// The number of reloads, and the content of the program.
    fn newest(newer: &Newer<String>) -> Option<(u64, String)> {
        let newest = newer.newest(text)?;
        Some((newest.number, newest.program.clone()))
    }

    #[test]
    fn the_newest_images_that_fit_are_taken() {
        let folder = private();
        let variants = ["N=1", "N=2"];
        let kernels = kernel(&[value("uint", "n", 4)]);
        let registry = Registry::from_pack(pack("host", &variants, &kernels, "old"));
        let selection = registry.request("m").variant("N", 2).select(&Device::host()).unwrap();
        let newer = Newer::in_folder(folder.path().to_path_buf(), &selection).unwrap().unwrap();
        let folder = folder.path();
        let in_use = fs::read_to_string(folder.join(IN_USE)).unwrap();
        assert_eq!((in_use.as_str(), newest(&newer)), ("p\t1.0.0\thost\n", None));

        publish(folder, &pack("host", &variants, &kernels, "new"));
        let first = Some((1, "N=2 new".to_string()));
        assert_eq!((newest(&newer), newest(&newer)), (first.clone(), first.clone()));
        // The same images again; those for another device; none that is whole.
        publish(folder, &pack("host", &variants[1..], &kernels, "new"));
        assert_eq!(newest(&newer), first);
        publish(folder, &pack("opencl-c", &variants, &kernels, "other"));
        assert_eq!(newest(&newer), first);
        publish(folder, b"nonsense");
        assert_eq!((newest(&newer), reports(folder)), (first.clone(), 0));
        // Calls that do not fit, and a variant that is gone, are reported once.
        publish(folder, &pack("host", &variants, &kernel(&[value("ulong", "n", 8)]), "wide"));
        assert_eq!((newest(&newer), newest(&newer), reports(folder)), (first.clone(), first.clone(), 1));
        publish(folder, &pack("host", &variants[..1], &kernels, "less"));
        assert_eq!((newest(&newer), reports(folder)), (first, 2));
        publish(folder, &pack("host", &variants, &kernels, "last"));
        assert_eq!((newest(&newer), reports(folder)), (Some((2, "N=2 last".to_string())), 2));
        // Back to what the program was built with.
        publish(folder, &pack("host", &variants, &kernels, "old"));
        assert_eq!(newest(&newer), Some((3, "N=2 old".to_string())));
    }

    /// The number of reported problems.
    fn reports(folder: &Path) -> usize {
        let mut count = 0;
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with(REPORTED_PREFIX) {
                count += 1;
            }
        }
        count
    }

    /// The content of the selected image, in place of a program.
    fn text(selection: &Selection) -> Result<String, Error> {
        let image = selection.entry().load()?;
        Ok(String::from_utf8_lossy(image.bytes()).into_owned())
    }

    fn kernel(args: &[ArgInfo]) -> Vec<KernelInfo> {
        let mut kernel = KernelInfo::new("scale");
        kernel.args = Some(args.to_vec());
        vec![kernel]
    }

    fn argument(kind: ArgKind, base_type: &str, name: &str) -> ArgInfo {
        let mut arg = ArgInfo::new(kind).named(name, base_type);
        arg.base_type = base_type.into();
        arg
    }

    fn value(base_type: &str, name: &str, size: u32) -> ArgInfo {
        argument(ArgKind::Value, base_type, name).with_size(Some(size))
    }

    fn assert_changed(old: &[KernelInfo], new: &[KernelInfo], text: &str) {
        let problem = changed(old, new).unwrap();
        assert!(problem.starts_with(text) && problem.ends_with(HINT), "{problem}");
    }

    #[test]
    fn calls_have_to_fit() {
        let data = argument(ArgKind::Global, "float", "y");
        let old = kernel(&[data.clone(), value("uint", "n", 4)]);
        assert_eq!(changed(&old, &old), None);
        // Calls do not use the names of arguments, and there is no call of a new kernel.
        let named = kernel(&[data.clone(), value("uint", "count", 4)]);
        assert_eq!(changed(&old, &[named, vec![KernelInfo::new("more")]].concat()), None);
        assert_changed(&old, &[], "kernel `scale` is gone\n");
        let short = kernel(std::slice::from_ref(&data));
        assert_changed(&old, &short, "kernel `scale` takes 1 arguments now, and took 2\n");
        let wide = kernel(&[data.clone(), value("ulong", "n", 8)]);
        let problem = "kernel `scale` takes `value ulong n` as argument 1 now, and took `value uint n`\n";
        assert_changed(&old, &wide, problem);
        // As many bytes, and another meaning.
        let float = kernel(&[data.clone(), value("float", "n", 4)]);
        assert_changed(&old, &float, "kernel `scale` takes `value float n`");
        let mut constant = data;
        constant.is_const = true;
        let constant = kernel(&[constant, value("uint", "n", 4)]);
        assert_changed(&old, &constant, "kernel `scale` takes `global const float y`");
        let mut required = old.clone();
        required[0].required_work_group = Some([8, 1, 1]);
        assert_changed(&old, &required, "kernel `scale` requires another work-group\n");
    }
}
