//! Device libraries: functions that a package exports, and that kernel modules of other packages import.
//!
//! The build script of a package that exports leaves a record in `OUT_DIR`. Cargo tells the build scripts of packages
//! that depend on it where the record is, because the package has a key `links`
//! (<https://doc.rust-lang.org/cargo/reference/build-scripts.html#the-links-manifest-key>). Who imports compiles the
//! sources for targets of its own: they need not be those of the package that exports.

mod record;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offload_format::Variant;

use self::record::Record;
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;
use crate::module::{Library, Origin, SourceFile, Sources};
use crate::options::{Compiler, Link, OpenClStd, Options};
use crate::request::KernelModule;

/// What a build script asks to export.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Export<'a> {
    /// Name and files.
    pub(crate) module: KernelModule<'a>,
    /// Those of build script and configuration.
    pub(crate) options: &'a Options,
    /// The folder with the headers that importers include, relative to the manifest's directory.
    pub(crate) include: &'a Path,
}

/// The libraries `names` of the packages that this one depends on.
///
/// # Errors
/// If none of them exports one of these names, or several do; if a record cannot be read.
pub(crate) fn imports(env: &CargoEnv, names: &[String]) -> Result<Vec<Arc<Library>>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let records = env.exported_libraries().into_iter().map(|path| read(&path));
    let exported = records.collect::<Result<Vec<_>>>()?;
    let mut found = Vec::new();
    for name in names {
        let named: Vec<&Arc<Library>> = exported.iter().filter(|library| library.name() == name).collect();
        match named.as_slice() {
            [] => return Err(not_exported(env, name, &exported)),
            [only] => found.push(Arc::clone(only)),
            [first, second, ..] => {
                let error = format!(
                    "{} and {} both export a device library `{name}`",
                    first.provider(),
                    second.provider()
                );
                return Err(Error::new(error).with_hint("depend on one of them alone, or have one renamed"));
            }
        }
    }
    found.dedup_by(|one, other| one.is(other));
    Ok(found)
}

/// Records that this package exports a library, for the build scripts of packages that depend on it.
///
/// # Errors
/// If the manifest has no key `links`, if there is no header, or if the sources cannot be a library.
pub(crate) fn export(env: &CargoEnv, export: Export<'_>) -> Result<Library> {
    let record = record_of(env, export)?;
    let name = export.module.name;
    if env.links().is_none() {
        let error = format!(
            "crate `{}` exports the device library `{name}`, and its manifest has no key `links`",
            env.package
        );
        let hint = format!(
            "write `links = \"{}-device\"` below [package] in Cargo.toml: cargo tells crates that depend on this one where the library is",
            env.package
        );
        return Err(Error::new(error).with_hint(hint));
    }
    let path = env.out_dir.join(format!("{name}.library.toml"));
    fs::publish_if_changed(&path, record.write().as_bytes())?;
    env.export_library(name, &path);
    from_record(record, &path)
}

fn record_of(env: &CargoEnv, Export { module, options, include }: Export<'_>) -> Result<Record> {
    let sources = match module.variants(options)?.as_slice() {
        [only] if options.variants.is_empty() => only.clone(),
        _ => {
            let error = format!("the device library `{}` has variants", module.name);
            return Err(Error::new(error).with_hint("export a library for each, under names of their own"));
        }
    };
    if let Some(file) = sources.files.iter().find(|file| !file.language.is_source()) {
        let error =
            format!("`{}` cannot be part of a device library: it is {}", file.path.display(), file.language);
        return Err(
            Error::new(error).with_hint("export sources: they are compiled for the targets of each importer")
        );
    }
    if sources.has_launchers() {
        let error = format!("the device library `{}` has `launchers`", module.name);
        return Err(Error::new(error)
            .with_hint("a module with kernels has them: leave `launchers` out for the library"));
    }
    if options.compiler.unwrap_or_default() != Compiler::Clang {
        let error =
            format!("the device library `{}` is to be compiled by another compiler than clang", module.name);
        return Err(Error::new(error).with_hint("leave `compiler` out for it"));
    }
    if let Some(constant) = sources.spec.first() {
        let error = format!(
            "the device library `{}` has the specialisation constant `{}`",
            module.name, constant.name
        );
        return Err(Error::new(error).with_hint(
            "give it to the module that imports the library, and the library's functions its value as an argument",
        ));
    }
    let mut flags = Vec::new();
    for flag in &sources.flags {
        flags.push(text(flag.as_ref())?);
    }
    let imported = imports(env, &options.imports)?;
    let imported = imported.iter().map(|library| text(&library.record));
    Ok(Record {
        package: env.package.clone(),
        package_version: env.version.clone(),
        library: module.name.to_string(),
        root: text(&env.manifest_dir)?,
        include: text(include)?,
        headers: headers(env, include)?,
        files: sources.files.iter().map(|file| text(&file.path)).collect::<Result<_>>()?,
        flags,
        std: options.std.map(|std| std.name().to_string()),
        cuda_sdk: options.cuda_sdk.unwrap_or_default(),
        cuda_arch: options.cuda_arch,
        images: options.link == Some(Link::Load),
        imports: imported.collect::<Result<_>>()?,
    })
}

/// The headers in the folder `include` and in those below, relative to the manifest's directory.
fn headers(env: &CargoEnv, include: &Path) -> Result<Vec<String>> {
    let folder = env.manifest_dir.join(include);
    let hint = "name the folder with the headers that importers include, relative to Cargo.toml; it holds nothing else";
    if !folder.is_dir() {
        return Err(Error::new(format!("the folder `{}` does not exist", folder.display())).with_hint(hint));
    }
    if folder.components().eq(env.manifest_dir.components()) {
        return Err(
            Error::new("the headers of a device library lie in the package's own folder").with_hint(hint)
        );
    }
    let mut found = BTreeSet::new();
    let mut open = vec![folder.clone()];
    while let Some(dir) = open.pop() {
        for path in fs::list(&dir)? {
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(text(path.strip_prefix(&env.manifest_dir).unwrap_or(&path))?);
            }
        }
    }
    if found.is_empty() {
        return Err(Error::new(format!("the folder `{}` holds no header", folder.display())).with_hint(hint));
    }
    Ok(found.into_iter().collect())
}

fn text(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_string);
    text.ok_or_else(|| {
        Error::new(format!("the path or flag `{}` of a device library is not UTF-8", path.display()))
    })
}

fn not_exported(env: &CargoEnv, name: &str, exported: &[Arc<Library>]) -> Error {
    let others: Vec<String> =
        exported.iter().map(|library| format!("`{}` of {}", library.name(), library.provider())).collect();
    let mut error = format!(
        "crate `{}` imports the device library `{name}`, which none of its dependencies exports",
        env.package
    );
    if !others.is_empty() {
        error.push_str(&format!("; they export {}", others.join(", ")));
    }
    Error::new(error).with_hint("add the crate that exports it to [dependencies]; it needs a key `links` in its own Cargo.toml. Cargo tells nothing of the dependencies of dependencies, nor of [build-dependencies]. Sources of this crate are added with `.file(...)`")
}

/// The library of the record at `path`, with all that it imports.
fn read(path: &Path) -> Result<Arc<Library>> {
    from_record(Record::read(&fs::read_text(path)?, path)?, path).map(Arc::new)
}

fn from_record(record: Record, path: &Path) -> Result<Library> {
    let files = record.files.iter().map(|file| SourceFile::new(Path::new(file)));
    let imports = record.imports.iter().map(|path| read(Path::new(path)));
    let options = Options {
        std: record.std.as_deref().map(OpenClStd::named).transpose()?,
        cuda_sdk: Some(record.cuda_sdk),
        cuda_arch: record.cuda_arch,
        ..Options::default()
    };
    let sources = Sources {
        module: record.library.clone(),
        variant: Variant::default(),
        files: files.collect::<Result<_>>()?,
        flags: record.flags.iter().map(Into::into).collect(),
        spec: Vec::new(),
        options,
        origin: Origin { root: record.root.clone().into(), imports: imports.collect::<Result<_>>()? },
    };
    Ok(Library {
        include: record.path(&record.include),
        headers: record.headers.iter().map(|header| record.path(header)).collect(),
        package: record.package,
        version: record.package_version,
        has_images: record.images,
        record: path.to_path_buf(),
        sources,
    })
}

/// The sources and headers of the library, as far as no compiler is needed to know them.
pub(crate) fn files(library: &Library) -> Vec<PathBuf> {
    let read = library.sources.declared(library.root()).files;
    read.iter().map(|file| library.root().join(file)).chain(library.headers.iter().cloned()).collect()
}

/// What changes with everything that code of the library is made of, as far as no compiler is needed to know it.
pub(crate) fn hash(library: &Library) -> String {
    let mut hasher = blake3::Hasher::new();
    let Library { package, version, sources, .. } = library;
    let facts = [package.as_str(), version, &sources.module, sources.options.std.unwrap_or_default().flag()];
    let flags = sources.flags.iter().map(|flag| flag.as_encoded_bytes());
    let contents = files(library).into_iter().map(|path| fs::read(&path).unwrap_or_default());
    let imports = sources.origin.imports.iter().map(|import| hash(import).into_bytes());
    for part in facts.iter().map(|fact| fact.as_bytes()).chain(flags) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    for part in contents.chain(imports) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(&part);
    }
    hasher.finalize().to_hex().to_string()
}

/// All words of the public headers of `library`. What they do not name is the library's own.
///
/// # Errors
/// If a header cannot be read.
pub(crate) fn words(library: &Library) -> Result<BTreeSet<String>> {
    let mut words = BTreeSet::new();
    for header in &library.headers {
        let text = fs::read_text(header)?;
        let found = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.extend(found.filter(|word| !word.is_empty()).map(str::to_string));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, imports: Vec<Arc<Library>>) -> Arc<Library> {
        let record = Record {
            package: format!("{name}-device"),
            package_version: "1.0.0".into(),
            library: name.into(),
            files: vec!["f.cl".into()],
            ..Record::default()
        };
        let mut library = from_record(record, Path::new("")).unwrap();
        library.sources.origin.imports = imports;
        Arc::new(library)
    }

    fn names(imports: &[Arc<Library>]) -> Vec<String> {
        let top = library("all", imports.to_vec());
        top.sources.libraries().into_iter().map(|library| library.name().to_string()).collect()
    }

    #[test]
    fn a_library_comes_before_all_that_it_imports() {
        let base = library("base", Vec::new());
        let one = library("one", vec![base.clone()]);
        let two = library("two", vec![base.clone()]);
        assert_eq!(names(&[one.clone(), two.clone()]), ["one", "two", "base"]);
        assert_eq!(names(&[base.clone(), two.clone()]), ["two", "base"]);
        let top = library("top", vec![base, two]);
        assert_eq!(names(&[top, one]), ["top", "two", "one", "base"]);
        assert!(names(&[]).is_empty());
    }

    fn hash_of_record(record: &Record) -> String {
        hash(&from_record(record.clone(), Path::new("")).unwrap())
    }

    #[test]
    fn what_a_library_is_made_of_changes_its_hash() {
        let dir = tempfile::tempdir().unwrap();
        let source = "#include \"own.h\"\nint f(int x) { return x + OWN; }\n";
        std::fs::write(dir.path().join("f.cl"), source).unwrap();
        std::fs::write(dir.path().join("own.h"), "#define OWN 1\n").unwrap();
        std::fs::write(dir.path().join("f.h"), "int f(int x);\n").unwrap();
        let record = Record {
            library: "f".into(),
            root: dir.path().display().to_string(),
            files: vec!["f.cl".into()],
            headers: vec!["f.h".into()],
            ..Record::default()
        };
        let first = hash_of_record(&record);
        for (name, text) in [
            ("own.h", "#define OWN 2\n"),
            ("f.h", "int f(int y);\n"),
            ("f.cl", "int f(int x) { return x; }\n"),
        ] {
            let before = hash_of_record(&record);
            std::fs::write(dir.path().join(name), text).unwrap();
            assert_ne!(hash_of_record(&record), before, "{name}");
        }
        let with_flag = Record { flags: vec!["-DN=1".into()], ..record.clone() };
        assert_ne!(hash_of_record(&with_flag), hash_of_record(&record));
        assert_ne!(hash_of_record(&record), first);
    }
}
