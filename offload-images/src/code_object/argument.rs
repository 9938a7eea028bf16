//! Kernel arguments in the metadata note.

use crate::msgpack::{Reader, set};

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// Its name in the source, if the compiler wrote it.
    pub name: Option<String>,
    /// Its type in the source, if the compiler wrote it.
    pub type_name: Option<String>,
    /// Its offset in the kernarg segment, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its kind.
    pub value_kind: ValueKind,
    /// The address space of a pointer's pointee.
    pub address_space: Option<AddressSpace>,
}

impl Argument {
    pub(super) fn read(argument: &mut Reader<'_>) -> Option<Argument> {
        let mut name = None;
        let mut type_name = None;
        let mut address_space = None;
        let mut offset = None;
        let mut size = None;
        let mut value_kind = None;
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

/// The kind of an argument (`.value_kind`).
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
    /// A hidden argument, which the runtime sets: `hidden_block_count_x`.
    Hidden(String),
    /// A kind of a later version.
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
    /// The generic address space.
    Generic,
    /// Global data share.
    Region,
    /// An address space of a later version.
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
