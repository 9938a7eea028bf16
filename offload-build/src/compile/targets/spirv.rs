//! `spirv64`: LLVM's own SPIR-V back end, whose output is read back and validated.

use std::ffi::OsString;

use offload_format::pack::NewImage;
use offload_format::section::READS_FAILURES_PREFIX;
use offload_format::{Aspects, Limits, SpecConstant, SpecUse, SpirvVersion, Target};
use offload_images::spirv::{self, Definition};
use offload_ir::LocalArguments;

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::front_end::opencl_features;
use crate::compile::linking::imports::{self, Left};
use crate::compile::session::Unit;
use crate::compile::steps::action::{expect_kernels, unresolved};
use crate::compile::targets::gpu::{Backend, Codegen, ConstantArguments, DeviceOutput, Shim, ToLink, Vendor};
use crate::error::{Error, Result};
use crate::fs;
use crate::module::{DeviceImage, Language, Library};
use crate::options::SpecForm;
use crate::tool::Invocation;

/// Functions of OpenCL C that the back end knows nothing of or gets wrong.
const SHIM_SOURCE: &str = concat!(
    include_str!("../device/spirv_shim.cl"),
    include_str!("../device/spirv_library.cl"),
    include_str!("../device/spirv_atomics.cl"),
    include_str!("../device/spirv_sub_groups.cl")
);

pub(crate) fn compile(session: &Session<'_>, unit: &Unit<'_>, version: SpirvVersion) -> Result<DeviceImage> {
    let mut record = unit.image_record(session, Target::Spirv64(version));
    let bytes = if session.sources.link_at_load() {
        session.tools().llvm()?.makes_spirv()?;
        let ToLink { module, left } = backend(version).module_to_link(session, unit)?;
        record.imports = imports::providers(&left);
        generated(session, version, &module, |bytes| check(bytes, &unit.names(), &left))?
    } else {
        module(session, unit, version)?
    };
    record.format_version = Some(version.word());
    record.aspects = aspects(&bytes.read()?)?;
    // Of values OpenCL says only that `clBuildProgram` uses them; what is to be linked is compiled by `clCompileProgram`.
    if record.imports.is_empty() {
        take_ids(&mut record.spec, &bytes.read()?)?;
    } else {
        record.aspects = record.aspects | Aspects::LINKER;
    }
    for required in required_sub_groups(&bytes.read()?)? {
        let kernel = record.kernels.iter_mut().find(|kernel| kernel.name == required.kernel);
        kernel.into_iter().for_each(|kernel| kernel.sub_group_size = Some(required.size));
    }
    Ok(DeviceImage { record, bytes })
}

/// One SPIR-V module with the kernels of `unit`.
pub(crate) fn module(session: &Session<'_>, unit: &Unit<'_>, version: SpirvVersion) -> Result<Blob> {
    session.tools().llvm()?.makes_spirv()?;
    let module = backend(version).module(session, unit)?;
    generated(session, version, &module, |bytes| check(bytes, &unit.names(), &[]))
}

/// The image of the library whose session this is, to be linked when it is loaded.
pub(crate) fn library(
    session: &Session<'_>,
    library: &Library,
    version: SpirvVersion,
) -> Result<DeviceImage> {
    session.tools().llvm()?.makes_spirv()?;
    let module = backend(version).exporting(session, library)?;
    let bytes = generated(session, version, &module, |bytes| check(bytes, &[], &[]))?;
    let content = bytes.read()?;
    let variable = if offload_ir::has_output(&module.read_text()?) {
        Aspects::GLOBAL_VARIABLES
    } else {
        Aspects::default()
    };
    let mut record = NewImage::new(library.name(), Target::Spirv64(version));
    record.exports = spirv::Module::parse(&content, &Limits::default())?.exports().to_vec();
    record.format_version = Some(version.word());
    record.aspects = aspects(&content)? | Aspects::LINKER | variable;
    Ok(DeviceImage { record, bytes })
}

/// SPIR-V of `module`, which `check` has accepted.
fn generated(
    session: &Session<'_>,
    version: SpirvVersion,
    module: &Blob,
    check: impl Fn(&[u8]) -> Result<()>,
) -> Result<Blob> {
    // With the extension for printf, as the back end mistakes the memory of the format before a function with images. What
    // is made of its output asks for the extension only where it is needed.
    let llvm = session.tools().llvm()?;
    let output = [&["-O2", "-c"], llvm.spirv_flags(), llvm.spirv_printf_flags()].concat();
    let object = Codegen { module, output: &output };
    let generated = backend(version).codegen(session, object, |bytes| {
        check(bytes)?;
        let corrected = corrected(bytes)?;
        validate(session, corrected.as_deref().unwrap_or(bytes))
    })?;
    match corrected(&generated.read()?)? {
        None => Ok(generated),
        Some(corrected) => {
            let key = KeyBuilder::new("corrected SPIR-V").part(&generated.hash.0).finish();
            session.cache().get_or(key, || Ok(corrected))
        }
    }
}

/// What drivers take in place of the back end's output, if that is another module.
fn corrected(bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let formats = spirv::with_character_formats(bytes)?;
    let portable = spirv::with_portable_instructions(formats.as_deref().unwrap_or(bytes))?;
    Ok(portable.or(formats))
}

/// OpenCL C of ours as SPIR-V; `defines` are flags of the front end.
pub(crate) fn compile_text(
    session: &Session<'_>,
    text: &str,
    defines: &[String],
    version: SpirvVersion,
) -> Result<Blob> {
    let backend = backend(version);
    let module = backend.own_bitcode(session, text, defines)?;
    let output = [&["-O2", "-c"], session.tools().llvm()?.spirv_flags()].concat();
    backend.codegen(session, Codegen { module: &module, output: &output }, |bytes| {
        spirv::Module::parse(bytes, &Limits::default()).map(drop).map_err(Into::into)
    })
}

/// Front ends of versions differ in the extensions that OpenCL C predefines; the version is in the code generator's target.
pub(crate) fn backend(version: SpirvVersion) -> Backend {
    Backend {
        name: "SPIR-V",
        front_end: vec!["--target=spirv64-unknown-unknown".to_string()],
        opencl: opencl_features::for_spirv(version),
        common: None,
        cuda: Vendor::unserved(Language::Cuda),
        cuda_sdk: None,
        hip: Vendor::unserved(Language::Hip),
        machine: vec![format!("--target=spirv64{version}-unknown-unknown")],
        // Without clang's own header: it declares as built-in what the shim defines.
        shim: Shim {
            source: SHIM_SOURCE,
            flags: Vec::new(),
            opencl: ["-cl-no-stdinc", "-cl-std=CL2.0"].map(str::to_string).into(),
        },
        libraries: Vec::new(),
        spec: SpecForm::Spirv,
        local_arguments: LocalArguments::Kept,
        constant_arguments: ConstantArguments::Kept,
        output: DeviceOutput::Driver,
        is_ptx: false,
        attributes: Default::default(),
    }
}

/// A SPIR-V module with exactly these kernels, and no import but those that are `left`.
fn check(bytes: &[u8], kernels: &[&str], left: &[Left]) -> Result<()> {
    let module = spirv::Module::parse(bytes, &Limits::default())?;
    let names = module.kernels().iter().map(|entry| entry.name.as_str());
    expect_kernels(names.filter(|name| !name.starts_with(READS_FAILURES_PREFIX)), kernels)?;
    match module.imports().iter().find(|name| left.iter().all(|function| function.name != **name)) {
        None => Ok(()),
        Some(name) => Err(unresolved(name, "SPIR-V")),
    }
}

/// What the module needs of a device, by its capabilities
/// (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Capability>).
pub(crate) fn aspects(bytes: &[u8]) -> Result<Aspects> {
    let module = spirv::Module::parse(bytes, &Limits::default())?;
    let asserts = module.kernels().iter().any(|entry| entry.name.starts_with(READS_FAILURES_PREFIX));
    let variable = if asserts { Aspects::GLOBAL_VARIABLES } else { Aspects::default() };
    Ok(module.aspects() | variable)
}

/// Says which constants the module takes a value of; the number of each is its place in the list.
fn take_ids(spec: &mut [SpecConstant], bytes: &[u8]) -> Result<()> {
    if spec.is_empty() {
        return Ok(());
    }
    let ids = spirv::Module::parse(bytes, &Limits::default())?.spec_ids();
    for (constant, id) in spec.iter_mut().zip(0u32..) {
        constant.usage = if ids.contains(&id) { SpecUse::Id(id) } else { SpecUse::Unused };
    }
    Ok(())
}

/// The kernels that require a size of sub-groups.
fn required_sub_groups(bytes: &[u8]) -> Result<Vec<SubGroups>> {
    let module = spirv::Module::parse(bytes, &Limits::default())?;
    Ok(module
        .kernels()
        .iter()
        .filter_map(|entry| Some(SubGroups { kernel: entry.name.clone(), size: entry.sub_group_size? }))
        .collect())
}

/// The size of sub-groups that a kernel requires.
struct SubGroups {
    kernel: String,
    size: u32,
}

/// The validator of the SPIR-V tools, where it is installed: the back end does not check its own output.
fn validate(session: &Session<'_>, bytes: &[u8]) -> Result<()> {
    let Some(tool) = session.tools().spirv_val() else { return Ok(()) };
    let scratch = fs::scratch(session.cache().dir())?;
    let file = scratch.path().join("module.spv");
    fs::publish(&file, |out| out.write_all(bytes))?;
    let args = vec![OsString::from("module.spv")];
    let invocation = Invocation { program: &tool.path, args, directory: scratch.path(), input: None };
    session.context().run(&invocation).map(drop).map_err(|error| invalid(error, bytes))
}

/// The validator's error with the name of the variable or function: `spirv-val` reports only the number of the
/// instruction.
fn invalid(error: Error, module: &[u8]) -> Error {
    let definition =
        refused_instruction(error.message()).and_then(|number| spirv::definition_at(module, number).ok()?);
    let named = match &definition {
        Some(Definition::Variable(name)) => format!(", variable `{name}`"),
        Some(Definition::Function(name)) => {
            format!(", function `{}`", name.strip_prefix(offload_ir::BODY_PREFIX).unwrap_or(name))
        }
        _ => String::new(),
    };
    let error = error.context(format!("the module is not valid SPIR-V{named}"));
    match definition {
        Some(Definition::Variable(name)) if error.message().contains(ELEMENT_TYPES) => {
            error.with_hint(element_types_hint(&name))
        }
        _ => error,
    }
}

/// What `spirv-val` says of an array whose elements have other types than the first.
const ELEMENT_TYPES: &str = "array element type";

fn element_types_hint(variable: &str) -> String {
    format!(
        "LLVM's back end for SPIR-V takes the size of what the first pointer in `{variable}` points to for that of all: \
         have all point to arrays of one size, or write an array of two dimensions, as `constant char {variable}[][32]`"
    )
}

/// `68` of `error: line 68: OpConstantComposite ...`
fn refused_instruction(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("error: line ")?;
    let (number, _) = rest.split_once(':')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_instructions_by_number() {
        let message = "error: line 68: OpConstantComposite Constituent <id> '42[%42]'s type does not match";
        assert_eq!(refused_instruction(message), Some(68));
        assert_eq!(refused_instruction("error: Invalid SPIR-V magic number."), None);
    }

    #[test]
    fn the_version_is_in_the_triple() {
        let backend = backend(SpirvVersion::new(4).unwrap());
        assert_eq!(backend.machine, ["--target=spirv64v1.4-unknown-unknown"]);
        assert_eq!(backend.front_end, ["--target=spirv64-unknown-unknown"]);
    }
}
