//! Types of PTX, forms of values in IR, and machines.

/// The machine that IR is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// An AMD GPU.
    Amd,
    /// A CPU.
    Host,
}

/// The address space of AMD's GPUs for memory that a block shares.
pub(super) const SHARED_SPACE: u32 = 3;

/// How bits are interpreted (<https://docs.nvidia.com/cuda/parallel-thread-execution/#fundamental-types>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
    /// Of 16 bits, with the exponent of a number of 32 bits.
    BFloat,
    Predicate,
}

/// A type that an instruction or a register names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) kind: Kind,
    /// Bits of an element.
    pub(super) width: u32,
    /// Elements in a register: 1, or 2 as in `f16x2`.
    pub(super) lanes: u32,
}

impl Type {
    pub(super) const fn bits(width: u32) -> Type {
        Type { kind: Kind::Bits, width, lanes: 1 }
    }

    pub(super) const fn float(width: u32) -> Type {
        Type { kind: Kind::Float, width, lanes: 1 }
    }

    /// Reads a suffix, as `u32` or `f16x2`; `None` for other words.
    pub(super) fn from_suffix(word: &str) -> Option<Type> {
        let known = match word {
            "pred" => Type { kind: Kind::Predicate, width: 1, lanes: 1 },
            "f16" | "f32" | "f64" => Type::float(word.get(1..)?.parse().ok()?),
            "f16x2" => Type { lanes: 2, ..Type::float(16) },
            "bf16" => Type { kind: Kind::BFloat, width: 16, lanes: 1 },
            "bf16x2" => Type { kind: Kind::BFloat, width: 16, lanes: 2 },
            _ => {
                let (kind, width) = word.split_at_checked(1)?;
                let kind = match kind {
                    "b" => Kind::Bits,
                    "u" => Kind::Unsigned,
                    "s" => Kind::Signed,
                    _ => return None,
                };
                let width = width.parse().ok().filter(|width| [8, 16, 32, 64].contains(width))?;
                Type { kind, width, lanes: 1 }
            }
        };
        Some(known)
    }

    pub(super) const fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Bits | Kind::Unsigned | Kind::Signed)
    }

    pub(super) const fn is_signed(self) -> bool {
        matches!(self.kind, Kind::Signed)
    }

    /// Bits of a register.
    pub(super) const fn size(self) -> u32 {
        self.width.saturating_mul(self.lanes)
    }

    /// The form that its values have in arithmetic. LLVM has no arithmetic on bfloat16 for all machines.
    pub(super) fn form(self) -> Option<Form> {
        match (self.kind, self.width, self.lanes) {
            (Kind::Float, 16, 1) => Some(Form::Half),
            (Kind::Float, 16, 2) => Some(Form::Half2),
            (Kind::Float, 32, 1) => Some(Form::Float),
            (Kind::Float, 64, 1) => Some(Form::Double),
            (Kind::Float | Kind::BFloat, ..) => None,
            (_, width, 1) => Some(Form::Integer(width)),
            _ => None,
        }
    }
}

/// The type of a value in IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Integer(u32),
    Half,
    Half2,
    Float,
    Double,
    /// In an address space.
    Pointer(u32),
}

impl Form {
    /// Reads a type of IR.
    pub(super) fn from_ir(text: &str) -> Option<Form> {
        let known = match text {
            "half" => Form::Half,
            "<2 x half>" => Form::Half2,
            "float" => Form::Float,
            "double" => Form::Double,
            "ptr" => Form::Pointer(0),
            _ => {
                if let Some(space) = text.strip_prefix("ptr addrspace(") {
                    return Some(Form::Pointer(space.strip_suffix(')')?.parse().ok()?));
                }
                Form::Integer(text.strip_prefix('i')?.parse().ok().filter(|width| *width <= 64)?)
            }
        };
        Some(known)
    }

    pub(super) fn text(self) -> String {
        match self {
            Form::Integer(width) => format!("i{width}"),
            Form::Half => "half".to_string(),
            Form::Half2 => "<2 x half>".to_string(),
            Form::Float => "float".to_string(),
            Form::Double => "double".to_string(),
            Form::Pointer(0) => "ptr".to_string(),
            Form::Pointer(space) => format!("ptr addrspace({space})"),
        }
    }

    /// The name in an intrinsic function's.
    pub(super) fn suffix(self) -> String {
        match self {
            Form::Half => "f16".to_string(),
            Form::Half2 => "v2f16".to_string(),
            Form::Float => "f32".to_string(),
            Form::Double => "f64".to_string(),
            other => other.text(),
        }
    }

    pub(super) const fn width(self) -> u32 {
        match self {
            Form::Integer(width) => width,
            Form::Half => 16,
            Form::Half2 | Form::Float | Form::Pointer(3) => 32,
            Form::Double | Form::Pointer(_) => 64,
        }
    }

    pub(super) const fn is_integer(self) -> bool {
        matches!(self, Form::Integer(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_name_types() {
        let size = |word| Type::from_suffix(word).map(|known| (known.kind, known.size()));
        assert_eq!(size("u32"), Some((Kind::Unsigned, 32)));
        assert_eq!(size("f16x2"), Some((Kind::Float, 32)));
        assert_eq!(size("bf16"), Some((Kind::BFloat, 16)));
        assert_eq!(size("pred"), Some((Kind::Predicate, 1)));
        for word in ["rn", "u24", "ftz", "e4m3x2", "b128", ""] {
            assert_eq!(size(word), None, "{word}");
        }
    }

    #[test]
    fn types_of_ir_are_forms() {
        for text in ["i16", "half", "<2 x half>", "float", "double", "ptr", "ptr addrspace(3)"] {
            assert_eq!(Form::from_ir(text).map(Form::text).as_deref(), Some(text));
        }
        assert_eq!(Form::from_ir("i128"), None);
        assert_eq!(Form::from_ir("[2 x i32]"), None);
    }
}
