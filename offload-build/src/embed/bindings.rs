//! The generated Rust that `offload_rt::include_kernels!` includes.

use std::collections::BTreeMap;
use std::fmt::Write;

use offload_format::SpecValue;
use offload_signatures::{Bound, DeclaredBound, Generic, Method, NamedParameter, Places, Shape};

use super::{Anchor, identifier};
use crate::env::CargoEnv;
use crate::error::Result;
use crate::fs;

/// What the Rust of a kernel module is made of.
#[derive(Debug)]
pub(crate) struct Bindings<'a> {
    pub(crate) module: &'a str,
    /// What it mentions, so that the pack is linked.
    pub(crate) anchor: &'a Anchor,
    pub(crate) methods: &'a [Method],
    /// Declared bounds by entry point; a method with them is safe.
    pub(crate) bounds: &'a BTreeMap<String, Vec<DeclaredBound>>,
    /// Specialisation constants with their defaults.
    pub(crate) spec: &'a BTreeMap<String, SpecValue>,
    pub(crate) places: &'a Places<'a>,
}

impl Bindings<'_> {
    /// Writes into `OUT_DIR`: `{module}.offload.rs` is a Rust module, `{module}.kernels.rs` its content, for one of
    /// another name.
    pub(crate) fn write(&self, env: &CargoEnv) -> Result<()> {
        let content = self.content();
        let whole = format!(
            "/// The kernels of the module `{}`.\npub mod {} {{\n{content}}}\n",
            self.module,
            identifier(self.module),
        );
        let kernels = env.out_dir.join(format!("{}.kernels.rs", self.module));
        let module = env.out_dir.join(format!("{}.offload.rs", self.module));
        fs::publish_if_changed(&kernels, content.as_bytes())?;
        fs::publish_if_changed(&module, whole.as_bytes())
    }

    fn content(&self) -> String {
        let module = self.module;
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = match self.anchor {
            Anchor::Symbol(symbol) => {
                writeln!(text, "    ::offload_rt::kernel_module!(\"{module}\", {symbol});")
            }
            Anchor::File(file) => {
                let bytes = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))");
                writeln!(text, "    ::offload_rt::included_kernel_module!(\"{module}\", {bytes});")
            }
        };
        text.push_str(&self.typed_kernels());
        text.push_str(&self.spec_constants());
        text
    }

    /// What makes the struct with the values of specialisation constants; nothing for a module without.
    fn spec_constants(&self) -> String {
        if self.spec.is_empty() {
            return String::new();
        }
        let mut fields = String::new();
        for (name, default) in self.spec {
            let about = format!("`{} {name}`; the default is {default}.", default.type_name());
            let field = offload_signatures::identifier(name);
            let rust = rust_type(*default);
            fields +=
                &format!("        #[doc = {about:?}]\n        {field}[{name:?}]: {rust} = {default};\n");
        }
        format!("    ::offload_rt::spec_constants! {{\n{fields}    }}\n")
    }

    /// What makes the struct with its methods.
    fn typed_kernels(&self) -> String {
        let entries: Vec<String> = self.methods.iter().map(|method| format!("{:?}", method.entry)).collect();
        let mut typed = String::new();
        let mut bounded = String::new();
        let mut untyped = String::new();
        for (index, method) in self.methods.iter().enumerate() {
            match &method.shape {
                Shape::Typed(parameters) => match self.bounds.get(&method.entry) {
                    None => {
                        typed.push_str(&self.about(method, None));
                        typed.push_str(&definition(method, index, parameters));
                        typed.push_str(";\n");
                    }
                    Some(bounds) => {
                        bounded.push_str(&self.about(method, None));
                        bounded.push_str(&definition(method, index, parameters));
                        bounded.push_str(&limits(parameters, bounds));
                    }
                },
                Shape::Untyped(reason) => {
                    untyped.push_str(&self.about(method, Some(reason)));
                    let _ = writeln!(untyped, "            {}[{index}];", method.name);
                }
            }
        }
        let bounded = if bounded.is_empty() {
            String::new()
        } else {
            format!("        bounded {{\n{bounded}        }}\n")
        };
        format!(
            "    ::offload_rt::typed_kernels! {{\n        [{}]\n        typed {{\n{typed}        }}\n{bounded}        \
             untyped {{\n{untyped}        }}\n    }}\n",
            entries.join(", ")
        )
    }

    /// Documentation: which kernel, where, with which arguments.
    fn about(&self, method: &Method, untyped: Option<&str>) -> String {
        let place = match self.places.location(&method.entry) {
            place if place.is_empty() => String::new(),
            place => format!(" ({place})"),
        };
        let mut lines = vec![format!("The kernel `{}`{place}.", method.entry)];
        lines.extend(untyped.map(|reason| format!("Untyped, because {reason}.")));
        if !method.source_args.is_empty() {
            lines.push("Its arguments in the source:".to_string());
            let list: Vec<String> = method.source_args.iter().map(|arg| format!("- `{arg}`")).collect();
            lines.push(list.join("\n"));
        }
        let lines = lines.join("\n\n");
        lines.lines().fold(String::new(), |text, line| format!("{text}            #[doc = {line:?}]\n"))
    }
}

fn rust_type(value: SpecValue) -> &'static str {
    match value {
        SpecValue::Bool(_) => "bool",
        SpecValue::Int(_) => "i32",
        SpecValue::UInt(_) => "u32",
        SpecValue::Long(_) => "i64",
        SpecValue::ULong(_) => "u64",
        SpecValue::Float(_) => "f32",
        _ => "f64",
    }
}

/// A method in the form that the macro takes.
fn definition(method: &Method, index: usize, parameters: &[NamedParameter]) -> String {
    let mut generics = vec!["'a".to_string()];
    let mut taken = Vec::new();
    let mut given = Vec::new();
    for (index, NamedParameter { name, parameter }) in parameters.iter().enumerate() {
        let type_name = format!("T{index}");
        if let Some(generic) = parameter.generic(&type_name) {
            generics.push(bounded(generic));
        }
        taken.push(format!("{name}: {}", parameter.rust(&type_name)));
        given.push(parameter.given(name, &type_name));
    }
    format!(
        "            {}[{index}]<{}>({}) =\n                [{}]",
        method.name,
        generics.join(", "),
        taken.join(", "),
        given.join(", ")
    )
}

/// The bounds of a method, in the form that the macro takes.
fn limits(parameters: &[NamedParameter], bounds: &[DeclaredBound]) -> String {
    const BOUND: &str = "::offload_rt::__private::Bound";
    let mut text = " where |offload_range| [\n".to_string();
    for DeclaredBound { argument, declared, rust } in bounds {
        let bound = match argument {
            Some(index) => {
                let generic = format!("T{index}");
                let element = parameters.get(*index).and_then(|one| one.parameter.element_type(&generic));
                format!("argument::<{}>({index}, {declared:?}, {rust})", element.unwrap_or_default())
            }
            None => format!("shared_memory({declared:?}, {rust})"),
        };
        text.push_str(&format!("                    {BOUND}::{bound},\n"));
    }
    text.push_str("                ];\n");
    text
}

fn bounded(Generic { name, bound }: Generic) -> String {
    match bound {
        Bound::Plain => format!("{name}: ::offload_rt::Plain"),
        Bound::Half => format!("{name}: ::offload_rt::Half"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use offload_signatures::{Dialect, Sources};

    use super::*;

    /// The tests of offload-rt compile and run what is generated here.
    #[test]
    fn the_rust_for_every_kind_of_argument_is_the_recorded_one() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
        let files = vec!["typed.cl".into()];
        let sources = Sources { root: &data, dialect: Dialect::OpenCl, files, flags: Vec::new() };
        let declared = offload_signatures::read(&sources);
        let methods = offload_signatures::methods(&[offload_signatures::declared(&declared)]);
        let anchor = Anchor::Symbol("a".into());
        let places = Places::new(Some(Path::new("typed.cl")), &declared);
        let spec: [(&str, SpecValue); 4] =
            [("FAR", (-5i64).into()), ("TILE", 16.into()), ("scale", 1e-7f32.into()), ("type", false.into())];
        let spec = spec.map(|(name, default)| (name.to_string(), default)).into();
        let declared = [("x", "n"), ("scratch", "local_size(0)")];
        let declared = declared.map(|(name, bound)| (name.to_string(), bound.to_string())).into();
        let scale = methods.iter().find(|method| method.name == "scale").unwrap();
        let bounds = [(scale.entry.clone(), scale.bounds(&declared).unwrap())].into();
        let bindings = Bindings {
            module: "typed",
            anchor: &anchor,
            methods: &methods,
            bounds: &bounds,
            spec: &spec,
            places: &places,
        };
        let generated = [bindings.typed_kernels(), bindings.spec_constants()].concat();
        let recorded = std::fs::read_to_string(data.join("typed.inc")).unwrap();
        assert_eq!(generated, recorded, "{generated}");
    }
}
