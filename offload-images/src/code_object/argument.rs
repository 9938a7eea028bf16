//! The arguments of a kernel, as the notes describe them.

use crate::msgpack::{Reader, set};

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its name in the source, if the compiler wrote it.
    pub name: Option<String>,
    /// Its type in the source, if the compiler wrote it.
    pub type_name: Option<String>,
    /// Where it lies among the arguments, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// What it is.
    pub value_kind: ValueKind,
    /// Where a pointer points to.
    pub address_space: Option<AddressSpace>,
}

impl Argument {
    pub(super) fn read(argument: &mut Reader<'_>) -> Option<Argument> {
        let (mut name, mut type_name, mut address_space) = (None, None, None);
        let (mut offset, mut size, mut value_kind) = (None, None, None);
        argument.map(|key, value| match key {
            ".name" => set(&mut name, value.optional(Reader::string)?),
            ".type_name" => set(&mut type_name, value.optional(Reader::string)?),
            ".offset" => set(&mut offset, Some(value.number()?)),
            ".size" => set(&mut size, Some(value.number()?)),
            ".value_kind" => set(&mut value_kind, Some(value.string()?.into())),
            ".address_space" => set(&mut address_space, value.optional(Reader::string)?),
            _ => value.skip(),
        })?;
        let address_space = address_space.map(AddressSpace::from);
        Some(Argument {
            name,
            type_name,
            offset: offset?,
            size: size?,
            value_kind: value_kind?,
            address_space,
        })
    }
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueKind {
    /// A value.
    ByValue,
    /// A pointer to global or constant memory.
    GlobalBuffer,
    /// A pointer to local memory, whose size the launch gives.
    DynamicSharedPointer,
    /// A sampler.
    Sampler,
    /// An image.
    Image,
    /// A pipe.
    Pipe,
    /// A queue.
    Queue,
    /// One that the runtime fills in, as `hidden_block_count_x`.
    Hidden(String),
    /// One of a later version.
    Other(String),
}

impl From<String> for ValueKind {
    fn from(text: String) -> ValueKind {
        match text.as_str() {
            "by_value" => ValueKind::ByValue,
            "global_buffer" => ValueKind::GlobalBuffer,
            "dynamic_shared_pointer" => ValueKind::DynamicSharedPointer,
            "sampler" => ValueKind::Sampler,
            "image" => ValueKind::Image,
            "pipe" => ValueKind::Pipe,
            "queue" => ValueKind::Queue,
            hidden if hidden.starts_with("hidden_") => ValueKind::Hidden(text),
            _ => ValueKind::Other(text),
        }
    }
}

/// An address space of OpenCL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressSpace {
    /// Private memory.
    Private,
    /// Global memory.
    Global,
    /// Constant memory.
    Constant,
    /// Local memory.
    Local,
    /// Any of them.
    Generic,
    /// Global data share.
    Region,
    /// One of a later version.
    Other(String),
}

impl From<String> for AddressSpace {
    fn from(text: String) -> AddressSpace {
        match text.as_str() {
            "private" => AddressSpace::Private,
            "global" => AddressSpace::Global,
            "constant" => AddressSpace::Constant,
            "local" => AddressSpace::Local,
            "generic" => AddressSpace::Generic,
            "region" => AddressSpace::Region,
            _ => AddressSpace::Other(text),
        }
    }
}
