//! The modules of a crate, without its tests, as its files declare them.

use std::fs;
use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use syn::{Attribute, Item, ItemMod, Meta};

/// A module with what stands in it.
#[derive(Debug)]
pub struct ParsedModule {
    /// `crate::a::b`, without the first word; empty for the root.
    pub path: Vec<String>,
    /// The file that it stands in.
    pub file: PathBuf,
    /// Its items, without modules and without what is compiled for tests alone.
    pub items: Vec<Item>,
}

/// A file, and where the files of the modules in it lie.
struct Place<'a> {
    file: &'a Path,
    children: PathBuf,
}

/// The modules of the crate whose root is the file `root`.
///
/// # Errors
/// If a file cannot be read or is no Rust.
pub fn of_crate(root: &Path) -> Result<Vec<ParsedModule>> {
    let mut modules = Vec::new();
    let children = root.parent().unwrap_or(root).to_path_buf();
    add(&mut modules, Vec::new(), &Place { file: root, children })?;
    Ok(modules)
}

fn add(modules: &mut Vec<ParsedModule>, path: Vec<String>, place: &Place<'_>) -> Result<()> {
    let text = fs::read_to_string(place.file)
        .map_err(|error| Error::new(format!("{}: {error}", place.file.display())))?;
    let parsed =
        syn::parse_file(&text).map_err(|error| Error::new(format!("{}: {error}", place.file.display())))?;
    if is_for_tests(&parsed.attrs) {
        return Ok(());
    }
    add_items(modules, Content { path, items: parsed.items }, place)
}

/// The path of a module and what stands in it.
struct Content {
    path: Vec<String>,
    items: Vec<Item>,
}

fn add_items(modules: &mut Vec<ParsedModule>, content: Content, place: &Place<'_>) -> Result<()> {
    let mut items = Vec::new();
    let mut inner = Vec::new();
    for item in content.items {
        match item {
            Item::Mod(module) if is_for_tests(&module.attrs) => {}
            Item::Mod(module) => inner.push(module),
            other if is_for_tests(attributes(&other)) => {}
            other => items.push(other),
        }
    }
    modules.push(ParsedModule { path: content.path.clone(), file: place.file.to_path_buf(), items });
    for module in inner {
        add_inner(modules, &content.path, Declared { module, place })?;
    }
    Ok(())
}

/// A module that a file declares.
struct Declared<'a> {
    module: ItemMod,
    place: &'a Place<'a>,
}

fn add_inner(modules: &mut Vec<ParsedModule>, parent: &[String], declared: Declared<'_>) -> Result<()> {
    let Declared { module, place } = declared;
    let name = module.ident.to_string();
    let path = [parent, std::slice::from_ref(&name)].concat();
    let children = place.children.join(&name);
    if let Some((_, items)) = module.content {
        return add_items(modules, Content { path, items }, &Place { file: place.file, children });
    }
    let flat = place.children.join(format!("{name}.rs"));
    let file = if flat.is_file() { flat } else { children.join("mod.rs") };
    add(modules, path, &Place { file: &file, children })
}

/// Whether there is a `#[cfg(test)]` or `#[test]`.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        Meta::Path(path) => path.is_ident("test"),
        Meta::NameValue(_) => false,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
