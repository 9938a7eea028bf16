//! The declarations of a SPIR-V module.

use std::collections::{BTreeMap, BTreeSet};

use super::stream::{
    self, Instruction, LINKAGE_ATTRIBUTES, LINKAGE_EXPORT, LINKAGE_IMPORT, MODE_LOCAL_SIZE,
    MODE_SUBGROUP_SIZE, MODEL_KERNEL, OP_CAPABILITY, OP_DECORATE, OP_ENTRY_POINT, OP_EXECUTION_MODE,
    OP_EXECUTION_MODE_ID, OP_FUNCTION, OP_FUNCTION_CALL, OP_FUNCTION_END, OP_MEMORY_MODEL, OP_SOURCE,
    OP_TYPE_FUNCTION, SPEC_ID,
};
use offload_format::{Aspects, Error, ErrorKind, Limits, bytes};

/// The capabilities (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Capability>) that not every OpenCL
/// device with SPIR-V has (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Env.html>, "Required
/// Capabilities"). `Float16Buffer` is not among them: every OpenCL device can load and store 16-bit numbers.
const ASPECTS: [(u32, Aspects); 29] = [
    (9, Aspects::FP16),                        // Float16
    (10, Aspects::FP64),                       // Float64
    (12, Aspects::ATOMIC64),                   // Int64Atomics
    (13, Aspects::IMAGE),                      // ImageBasic
    (14, Aspects::IMAGE_READ_WRITE),           // ImageReadWrite
    (17, Aspects::PIPES),                      // Pipes
    (18, Aspects::GROUPS),                     // Groups
    (38, Aspects::GENERIC_POINTER),            // GenericPointer
    (62, Aspects::SUB_GROUP_VOTE),             // GroupNonUniformVote
    (63, Aspects::SUB_GROUP_ARITHMETIC),       // GroupNonUniformArithmetic
    (64, Aspects::SUB_GROUP_BALLOT),           // GroupNonUniformBallot
    (65, Aspects::SUB_GROUP_SHUFFLE),          // GroupNonUniformShuffle
    (66, Aspects::SUB_GROUP_SHUFFLE_RELATIVE), // GroupNonUniformShuffleRelative
    (67, Aspects::SUB_GROUP_CLUSTERED),        // GroupNonUniformClustered
    (5116, Aspects::BF16),                     // BFloat16TypeKHR
    (5568, Aspects::INTEL_SUB_GROUPS),         // SubgroupShuffleINTEL
    (5569, Aspects::INTEL_SUB_GROUPS),         // SubgroupBufferBlockIOINTEL
    (5570, Aspects::INTEL_SUB_GROUPS),         // SubgroupImageBlockIOINTEL
    (5612, Aspects::FLOAT_ATOMICS),            // AtomicFloat32MinMaxEXT
    (5613, Aspects::FLOAT_ATOMICS),            // AtomicFloat64MinMaxEXT
    (5616, Aspects::FLOAT_ATOMICS),            // AtomicFloat16MinMaxEXT
    (6016, Aspects::DOT_PRODUCT),              // DotProductInputAll
    (6017, Aspects::DOT_PRODUCT),              // DotProductInput4x8Bit
    (6018, Aspects::DOT_PRODUCT),              // DotProductInput4x8BitPacked
    (6019, Aspects::DOT_PRODUCT),              // DotProduct
    (6033, Aspects::FLOAT_ATOMICS),            // AtomicFloat32AddEXT
    (6034, Aspects::FLOAT_ATOMICS),            // AtomicFloat64AddEXT
    (6095, Aspects::FLOAT_ATOMICS),            // AtomicFloat16AddEXT
    (6115, Aspects::BF16),                     // BFloat16ConversionINTEL
];

/// A parsed module over borrowed bytes; every instruction has been decoded.
#[derive(Clone, Debug)]
pub struct Module<'a> {
    bytes: &'a [u8],
    version: u32,
    kernels: Vec<EntryPoint>,
    imports: Vec<String>,
    exports: Vec<String>,
    capabilities: Vec<u32>,
}

/// An execution mode of an entry point's function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionMode {
    /// The id of the function.
    pub function: u32,
    /// The mode's number.
    pub mode: u32,
    /// The operands of the mode: literals, or ids of constants if [`ExecutionMode::by_id`] is set.
    pub operands: Vec<u32>,
    /// Whether it is an `OpExecutionModeId`.
    pub by_id: bool,
}

/// An entry point whose execution model is Kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// The id of its function.
    pub function: u32,
    /// The ids of its interface variables.
    pub interface: Vec<u32>,
    /// `reqd_work_group_size`.
    pub required_work_group: Option<[u32; 3]>,
    /// The required sub-group size.
    pub sub_group_size: Option<u32>,
}

/// The tool that wrote a module
/// (<https://github.com/KhronosGroup/SPIRV-Headers/blob/main/include/spirv/spir-v.xml>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generator {
    /// Its registered number: 6 is the SPIR-V translator, 43 LLVM's back end.
    pub tool: u16,
    /// Its version, as it counts.
    pub version: u16,
}

impl<'a> Module<'a> {
    /// Parses a whole module.
    ///
    /// A truncated module is refused wherever it ends: inside an instruction, inside a function, before a function that an
    /// entry point or a call refers to, or before the first function. A module without functions is accepted only if it has
    /// `OpSource` and neither entry points, linkage nor function types before it: DPC++ writes such modules for sources
    /// without kernels.
    ///
    /// # Errors
    /// [`ErrorKind::Magic`], [`ErrorKind::Truncated`], [`ErrorKind::Invalid`] (also for big-endian modules),
    /// [`ErrorKind::Text`], or [`ErrorKind::TooMany`] for more entry points, imports, exports, capabilities, execution
    /// modes and functions together than [`Limits::entries`].
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Module<'a>, Error> {
        let version = stream::header(bytes)?;
        let mut parser = Parser::with_capacity_for(bytes, limits)?;
        for instruction in stream::instructions(bytes) {
            parser.visit(&instruction?)?;
        }
        parser.check_complete(bytes.len() as u64)?;
        Ok(Module {
            bytes,
            version,
            kernels: parser.kernels,
            imports: parser.imports,
            exports: parser.exports,
            capabilities: parser.capabilities,
        })
    }

    /// The version word of the header: `0x00010200` for 1.2.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The kernels, in the order of the module.
    pub fn kernels(&self) -> &[EntryPoint] {
        &self.kernels
    }

    /// The names of imported symbols, without the built-in variables (`__spirv_BuiltIn*`).
    ///
    /// An executable module has none; `spirv-val` does not check that.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// The names of exported symbols.
    pub fn exports(&self) -> &[String] {
        &self.exports
    }

    /// The tool that wrote the module.
    pub fn generator(&self) -> Generator {
        let word = bytes::u32_at(self.bytes, 8, "the SPIR-V header").unwrap_or_default();
        Generator { tool: (word >> 16) as u16, version: word as u16 }
    }

    /// The execution modes of all entry points, in the order of the module.
    pub fn execution_modes(&self) -> impl Iterator<Item = ExecutionMode> {
        self.declarations().filter_map(|it| {
            let by_id = match it.opcode {
                OP_EXECUTION_MODE => false,
                OP_EXECUTION_MODE_ID => true,
                _ => return None,
            };
            let function = it.word(0).ok()?;
            let mode = it.word(1).ok()?;
            Some(ExecutionMode { function, mode, operands: it.words_from(2), by_id })
        })
    }

    /// The ids of the specialization constants (`SpecId`), each once.
    pub fn spec_ids(&self) -> BTreeSet<u32> {
        let mut ids = BTreeSet::new();
        for instruction in self.declarations() {
            if instruction.opcode == OP_DECORATE && instruction.word(1) == Ok(SPEC_ID) {
                ids.extend(instruction.word(2));
            }
        }
        ids
    }

    /// The instructions before the first function.
    fn declarations(&self) -> impl Iterator<Item = Instruction<'a>> {
        stream::instructions(self.bytes).map_while(Result::ok).take_while(|it| it.opcode != OP_FUNCTION)
    }

    /// The numbers of the declared capabilities, in the order of the module.
    pub fn capabilities(&self) -> &[u32] {
        &self.capabilities
    }

    /// The aspects that a device must support, from the capabilities.
    pub fn aspects(&self) -> Aspects {
        ASPECTS
            .iter()
            .filter(|(capability, _)| self.capabilities.contains(capability))
            .map(|(_, aspect)| *aspect)
            .collect()
    }

    /// The bytes that were parsed.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

#[derive(Default)]
struct Parser {
    kernels: Vec<EntryPoint>,
    imports: Vec<String>,
    exports: Vec<String>,
    capabilities: Vec<u32>,
    local_sizes: BTreeMap<u32, [u32; 3]>,
    sub_group_sizes: BTreeMap<u32, u32>,
    defined_functions: BTreeSet<u32>,
    referenced_functions: BTreeSet<u32>,
    has_memory_model: bool,
    /// `OpSource`, which follows the entry points.
    has_source: bool,
    has_function_type: bool,
    in_function: bool,
}

impl Parser {
    /// Allocates the entry points at once: with small instructions a growing `Vec` would take more memory than the module.
    fn with_capacity_for(module: &[u8], limits: &Limits) -> Result<Parser, Error> {
        let mut kernels = 0usize;
        let mut declarations = 0u64;
        for instruction in stream::instructions(module).map_while(Result::ok) {
            let opcode = instruction.opcode;
            if opcode == OP_ENTRY_POINT {
                kernels = kernels.saturating_add(1);
            }
            if matches!(opcode, OP_CAPABILITY | OP_ENTRY_POINT | OP_EXECUTION_MODE | OP_FUNCTION)
                || opcode == OP_DECORATE && instruction.word(1) == Ok(LINKAGE_ATTRIBUTES)
            {
                declarations = declarations.saturating_add(1);
            }
        }
        limits.records("the list of what the SPIR-V module declares", declarations)?;
        Ok(Parser { kernels: Vec::with_capacity(kernels), ..Parser::default() })
    }

    fn visit(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        match instruction.opcode {
            OP_CAPABILITY => self.capabilities.push(instruction.word(0)?),
            OP_MEMORY_MODEL => self.has_memory_model = true,
            OP_SOURCE => self.has_source = true,
            OP_TYPE_FUNCTION => self.has_function_type = true,
            OP_ENTRY_POINT => self.entry_point(instruction)?,
            OP_EXECUTION_MODE => self.execution_mode(instruction)?,
            OP_DECORATE => self.decoration(instruction)?,
            OP_FUNCTION => {
                self.defined_functions.insert(instruction.word(1)?);
                self.begin_function(instruction)?;
            }
            OP_FUNCTION_END => self.in_function = false,
            OP_FUNCTION_CALL => {
                self.referenced_functions.insert(instruction.word(2)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn entry_point(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        let function = instruction.word(1)?;
        let (name, next) = instruction.text(2)?;
        self.referenced_functions.insert(function);
        if instruction.word(0)? == MODEL_KERNEL {
            self.kernels.push(EntryPoint {
                name: name.to_string(),
                function,
                interface: instruction.words_from(next),
                required_work_group: None,
                sub_group_size: None,
            });
        }
        Ok(())
    }

    fn execution_mode(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        let function = instruction.word(0)?;
        match instruction.word(1)? {
            MODE_LOCAL_SIZE => {
                let size = [instruction.word(2)?, instruction.word(3)?, instruction.word(4)?];
                self.local_sizes.insert(function, size);
            }
            MODE_SUBGROUP_SIZE => {
                self.sub_group_sizes.insert(function, instruction.word(2)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn decoration(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        if instruction.word(1)? != LINKAGE_ATTRIBUTES {
            return Ok(());
        }
        let (name, next) = instruction.text(2)?;
        match instruction.word(next)? {
            LINKAGE_IMPORT if !name.starts_with("__spirv_BuiltIn") => self.imports.push(name.to_string()),
            LINKAGE_EXPORT => self.exports.push(name.to_string()),
            _ => {}
        }
        Ok(())
    }

    fn begin_function(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        if self.in_function {
            return Err(Error::invalid(
                "the function inside a function of the SPIR-V module",
                instruction.offset,
            ));
        }
        self.in_function = true;
        Ok(())
    }

    fn check_complete(&mut self, size: u64) -> Result<(), Error> {
        let missing = self.referenced_functions.difference(&self.defined_functions).next();
        let lacks_functions = self.defined_functions.is_empty() && !self.may_lack_functions();
        if self.in_function || !self.has_memory_model || lacks_functions || missing.is_some() {
            return Err(ErrorKind::Truncated { what: "the SPIR-V module", offset: size, size: 4 }.into());
        }
        for kernel in &mut self.kernels {
            kernel.required_work_group = self.local_sizes.get(&kernel.function).copied();
            kernel.sub_group_size = self.sub_group_sizes.get(&kernel.function).copied();
        }
        Ok(())
    }

    /// Whether nothing before or behind `OpSource` refers to a function.
    fn may_lack_functions(&self) -> bool {
        let has_linkage = !self.imports.is_empty() || !self.exports.is_empty();
        self.has_source && self.referenced_functions.is_empty() && !has_linkage && !self.has_function_type
    }
}

#[cfg(test)]
mod tests;
