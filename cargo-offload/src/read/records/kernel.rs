//! Record of a kernel for output.

use offload_format::pack::{ArgInfo, KernelInfo};
use serde::Serialize;

/// A kernel of an image, with the fields of [`KernelInfo`].
#[derive(Clone, Debug, Serialize)]
pub(crate) struct KernelRecord {
    pub(crate) name: String,
    pub(crate) required_work_group: [u32; 3],
    pub(crate) sub_group_size: Option<u32>,
    pub(crate) registers: Option<u32>,
    pub(crate) scalar_registers: Option<u32>,
    pub(crate) accumulator_registers: Option<u32>,
    pub(crate) max_work_group: Option<u32>,
    pub(crate) local_memory: Option<u64>,
    pub(crate) private_memory: Option<u64>,
    pub(crate) spilled: Option<u64>,
    /// Bytes of machine code; measured by `report` and `size` alone.
    pub(crate) code_size: Option<u64>,
    pub(crate) has_barrier: bool,
    pub(crate) remark: String,
    pub(crate) args: Vec<ArgRecord>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ArgRecord {
    name: String,
    r#type: String,
    kind: String,
    size: Option<u32>,
}

impl From<KernelInfo> for KernelRecord {
    fn from(kernel: KernelInfo) -> KernelRecord {
        KernelRecord {
            name: kernel.name,
            required_work_group: kernel.required_work_group.unwrap_or_default(),
            sub_group_size: kernel.sub_group_size,
            registers: kernel.registers,
            scalar_registers: kernel.scalar_registers,
            accumulator_registers: kernel.accumulator_registers,
            max_work_group: kernel.max_work_group,
            local_memory: kernel.local_memory,
            private_memory: kernel.private_memory,
            spilled: kernel.spilled,
            code_size: None,
            has_barrier: kernel.has_barrier,
            remark: kernel.remark,
            args: kernel.args.into_iter().flatten().map(ArgRecord::from).collect(),
        }
    }
}

impl From<ArgInfo> for ArgRecord {
    fn from(arg: ArgInfo) -> ArgRecord {
        ArgRecord { name: arg.name, r#type: arg.type_name, kind: arg.kind.to_string(), size: arg.size }
    }
}

impl KernelRecord {
    /// The work-group that a launch may have: required, or the largest.
    pub(crate) fn work_group(&self) -> String {
        match (self.required_work_group, self.max_work_group) {
            ([0, 0, 0], Some(most)) => most.to_string(),
            ([0, 0, 0], None) => "-".to_string(),
            ([x, y, z], _) => format!("{x}x{y}x{z}"),
        }
    }
}

/// `text`, or a dash in its place if it is empty.
pub(crate) fn text_or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_string() } else { text.to_string() }
}

/// A number, or a dash where it is not known.
pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.to_string())
}
