//! One method for each kernel of a module, whatever the number of its variants.

use std::collections::BTreeSet;

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use crate::name::{KernelName, identifier};
use crate::parameter::{self, Parameter};

/// A method of the generated struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// The kernel's entry point.
    pub entry: String,
    /// A Rust identifier.
    pub name: String,
    /// The arguments as the source has them, for people.
    pub source_args: Vec<String>,
    /// The parameters, or why there are none.
    pub shape: Shape,
}

/// The form of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It launches the kernel with these arguments.
    Typed(Vec<NamedParameter>),
    /// It returns the kernel, because of this.
    Untyped(String),
}

/// A parameter with its name, a Rust identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedParameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub parameter: Parameter,
}

/// The methods that the generated struct has whatever its kernels are.
const RESERVED: [&str; 1] = ["program"];

/// The methods for the kernels of `variants`, one list for each variant, in the order of the source.
pub fn methods(variants: &[Vec<KernelInfo>]) -> Vec<Method> {
    let mut entries = BTreeSet::new();
    let mut names = BTreeSet::from(RESERVED.map(str::to_string));
    let mut methods = Vec::new();
    for kernel in variants.iter().flatten() {
        if !entries.insert(kernel.name.as_str()) {
            continue;
        }
        let same: Vec<&KernelInfo> =
            variants.iter().flatten().filter(|other| other.name == kernel.name).collect();
        methods.push(Method {
            entry: kernel.name.clone(),
            name: unused(KernelName::parse(&kernel.name).method(), &mut names),
            source_args: kernel.args.iter().flatten().map(written).collect(),
            shape: match parameters(&same) {
                Ok(parameters) => Shape::Typed(parameters),
                Err(reason) => Shape::Untyped(reason),
            },
        });
    }
    methods
}

/// `name`, or the same with the first number that is not taken.
fn unused(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut unused = name.clone();
    let mut number = 2;
    while !taken.insert(unused.clone()) {
        unused = format!("{}_{number}", name.trim_start_matches("r#"));
        number += 1;
    }
    unused
}

/// The parameters of a kernel that is described as in each of `variants`, or why it has none.
fn parameters(variants: &[&KernelInfo]) -> Result<Vec<NamedParameter>, String> {
    let mut merged: Option<Vec<NamedParameter>> = None;
    for kernel in variants {
        let Some(args) = &kernel.args else { return Err("nothing is known of its arguments".to_string()) };
        let all = args.iter().enumerate().map(|(index, arg)| named(index, arg));
        let all = all.collect::<Result<Vec<_>, String>>()?;
        merged = Some(match merged {
            None => all,
            Some(before) if before.len() == all.len() => {
                let both = before.into_iter().zip(&all).enumerate();
                both.map(|(index, (one, other))| one.merged(index, other)).collect::<Result<_, _>>()?
            }
            Some(_) => return Err("the number of its arguments differs between the variants".to_string()),
        });
    }
    Ok(merged.unwrap_or_default())
}

fn named(index: usize, arg: &ArgInfo) -> Result<NamedParameter, String> {
    let name = if arg.name.is_empty() { format!("arg{index}") } else { identifier(&arg.name) };
    match parameter::for_argument(arg) {
        Ok(parameter) => Ok(NamedParameter { name, parameter }),
        Err(reason) => Err(format!("its argument {index}, `{name}`, {reason}")),
    }
}

impl NamedParameter {
    fn merged(self, index: usize, other: &NamedParameter) -> Result<NamedParameter, String> {
        let NamedParameter { name, parameter } = self;
        match parameter.merged(&other.parameter) {
            Ok(parameter) => Ok(NamedParameter { name, parameter }),
            Err(reason) => Err(format!("its argument {index}, `{name}`, {reason}")),
        }
    }
}

/// `global const float* x`, without typedefs: builds that run no compiler know what they stand for at most.
fn written(arg: &ArgInfo) -> String {
    let space = match arg.kind {
        ArgKind::Constant => "constant ",
        ArgKind::Local => "local ",
        ArgKind::Global if arg.is_const => "global const ",
        ArgKind::Global => "global ",
        ArgKind::Image if arg.is_const => "read_only ",
        _ => "",
    };
    let type_name = match (arg.base_type.as_str(), arg.type_name.as_str()) {
        ("", "") => "?",
        ("", type_name) => type_name,
        (base, _) => base.trim_start_matches("struct "),
    };
    let is_pointer = !space.is_empty() && arg.kind != ArgKind::Image;
    let star = if is_pointer && !arg.base_type.is_empty() { "*" } else { "" };
    format!("{space}{type_name}{star} {}", arg.name).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str, args: &[(ArgKind, &str)]) -> KernelInfo {
        let mut info = KernelInfo::new(name);
        info.args = Some(
            args.iter()
                .enumerate()
                .map(|(index, (kind, base))| {
                    ArgInfo::new(*kind).named(format!("a{index}"), base.to_string()).with_base_type(*base)
                })
                .collect(),
        );
        info
    }

    fn types(method: &Method) -> Vec<String> {
        match &method.shape {
            Shape::Typed(all) => all.iter().map(|one| one.parameter.rust("T")).collect(),
            Shape::Untyped(reason) => vec![reason.clone()],
        }
    }

    #[test]
    fn overloads_and_reserved_names_get_numbers() {
        let names = ["_Z5scalePf", "_Z5scalePd", "scale", "program"];
        let kernels = names.map(|name| kernel(name, &[])).to_vec();
        let methods = methods(&[kernels]);
        let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        assert_eq!(names, ["scale", "scale_2", "scale_3", "program_2"]);
    }

    #[test]
    fn variants_share_a_method() {
        let float = [(ArgKind::Value, "float")];
        let int = [(ArgKind::Value, "int")];
        let all = methods(&[vec![kernel("k", &float)], vec![kernel("k", &int), kernel("more", &int)]]);
        assert_eq!(all.len(), 2);
        assert_eq!((types(&all[0]), types(&all[1])), (vec!["T".to_string()], vec!["i32".to_string()]));
        let all = methods(&[vec![kernel("k", &float)], vec![kernel("k", &[])]]);
        assert!(types(&all[0])[0].contains("number of its arguments differs"));
    }

    #[test]
    fn one_untyped_argument_makes_the_kernel_untyped() {
        let depth = (ArgKind::Image, "image2d_depth_t");
        let all = methods(&[vec![kernel("k", &[(ArgKind::Value, "float"), depth])]]);
        assert_eq!(
            types(&all[0]),
            ["its argument 1, `a1`, is an image of a type that offload-rt does not pass"]
        );
        assert!(types(&methods(&[vec![KernelInfo::new("k")]])[0])[0].contains("nothing is known"));
    }
}
