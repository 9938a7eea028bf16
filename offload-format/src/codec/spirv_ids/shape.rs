//! Operand shapes of SPIR-V instructions: results and ids by opcode.
//!
//! The table is part of the format: reader and writer must agree on it. It covers the instructions of kernels; operands of
//! other instructions are not filtered.

/// The leading operands of an instruction.
#[derive(Clone, Copy)]
pub(super) enum Target {
    None,
    /// The first operand is the target of a name or decoration.
    Annotated,
    Result,
    TypedResult,
}

/// The operands of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) target: Target,
    /// Bit n: operand n after the leading ones is an id.
    ids: u8,
    /// Whether operands from the ninth on are ids.
    rest: bool,
}

impl Shape {
    /// The operands of the instruction with this opcode.
    pub(super) fn for_opcode(opcode: u32) -> Shape {
        let after = SHAPES.partition_point(|(first, _, _)| u32::from(*first) <= opcode);
        let candidate = after.checked_sub(1).and_then(|index| SHAPES.get(index));
        match candidate {
            Some((_, last, shape)) if opcode <= u32::from(*last) => *shape,
            _ => shape(Nothing, 0),
        }
    }

    pub(super) fn is_id(&self, operand: usize) -> bool {
        if operand < 8 { self.ids >> operand & 1 == 1 } else { self.rest }
    }
}

const fn shape(target: Target, ids: u8) -> Shape {
    // The highest bit applies to all further operands.
    Shape { target, ids, rest: ids & 0x80 != 0 }
}

/// All operands are ids.
const ALL: u8 = 0xff;

use Target::{Annotated, None as Nothing, Result as Untyped, TypedResult as Typed};

/// First and last opcode, and their operands; sorted.
const SHAPES: [(u16, u16, Shape); 83] = [
    (1, 1, shape(Typed, 0)),
    (5, 6, shape(Annotated, 0)),
    (7, 7, shape(Untyped, 0)),
    (8, 8, shape(Nothing, 1)),
    (11, 11, shape(Untyped, 0)),
    // The number of the extended instruction is a literal.
    (12, 12, shape(Typed, 0b1111_1101)),
    (15, 15, shape(Nothing, 0b10)),
    (16, 16, shape(Nothing, 1)),
    // Types.
    (19, 22, shape(Untyped, 0)),
    (23, 25, shape(Untyped, 1)),
    (26, 26, shape(Untyped, 0)),
    (27, 27, shape(Untyped, 1)),
    (28, 28, shape(Untyped, 0b11)),
    (29, 29, shape(Untyped, 1)),
    (30, 30, shape(Untyped, ALL)),
    (31, 31, shape(Untyped, 0)),
    (32, 32, shape(Untyped, 0b10)),
    (33, 33, shape(Untyped, ALL)),
    (34, 38, shape(Untyped, 0)),
    (39, 39, shape(Nothing, 1)),
    // Constants.
    (41, 43, shape(Typed, 0)),
    (44, 44, shape(Typed, ALL)),
    (45, 46, shape(Typed, 0)),
    (48, 50, shape(Typed, 0)),
    (51, 51, shape(Typed, ALL)),
    (52, 52, shape(Typed, 0b1111_1110)),
    // Functions and memory.
    (54, 54, shape(Typed, 0b10)),
    (55, 55, shape(Typed, 0)),
    (57, 57, shape(Typed, ALL)),
    (59, 59, shape(Typed, 0b10)),
    (60, 60, shape(Typed, ALL)),
    (61, 61, shape(Typed, 1)),
    (62, 63, shape(Nothing, 0b11)),
    (64, 64, shape(Nothing, 0b111)),
    (65, 67, shape(Typed, ALL)),
    (68, 68, shape(Typed, 1)),
    (69, 70, shape(Typed, ALL)),
    (71, 72, shape(Annotated, 0)),
    (73, 73, shape(Untyped, 0)),
    (74, 74, shape(Nothing, ALL)),
    (75, 75, shape(Nothing, 1)),
    // Composites.
    (77, 78, shape(Typed, ALL)),
    (79, 79, shape(Typed, 0b11)),
    (80, 80, shape(Typed, ALL)),
    (81, 81, shape(Typed, 1)),
    (82, 82, shape(Typed, 0b11)),
    (83, 84, shape(Typed, ALL)),
    // Images; image operands begin with a mask.
    (86, 86, shape(Typed, ALL)),
    (87, 88, shape(Typed, 0b1111_1011)),
    (95, 95, shape(Typed, 0b1111_1011)),
    (98, 98, shape(Typed, 0b1111_1011)),
    (99, 99, shape(Nothing, 0b1111_0111)),
    (100, 107, shape(Typed, ALL)),
    // Conversions, arithmetic, logic, bits.
    (109, 124, shape(Typed, ALL)),
    (126, 152, shape(Typed, ALL)),
    (154, 191, shape(Typed, ALL)),
    (194, 205, shape(Typed, ALL)),
    // Barriers and atomics.
    (224, 225, shape(Nothing, ALL)),
    (227, 227, shape(Typed, ALL)),
    (228, 228, shape(Nothing, ALL)),
    (229, 242, shape(Typed, ALL)),
    // Control flow.
    (245, 245, shape(Typed, ALL)),
    (246, 246, shape(Nothing, 0b11)),
    (247, 247, shape(Nothing, 1)),
    (248, 248, shape(Untyped, 0)),
    (249, 249, shape(Nothing, ALL)),
    (250, 250, shape(Nothing, 0b111)),
    (251, 251, shape(Nothing, 0b11)),
    (254, 254, shape(Nothing, ALL)),
    (256, 257, shape(Nothing, 1)),
    // Groups: the operation is a literal.
    (259, 259, shape(Typed, ALL)),
    (260, 260, shape(Nothing, ALL)),
    (261, 263, shape(Typed, ALL)),
    (264, 271, shape(Typed, 0b101)),
    (333, 341, shape(Typed, ALL)),
    (342, 342, shape(Typed, 0b101)),
    (343, 348, shape(Typed, ALL)),
    (349, 364, shape(Typed, 0b1101)),
    (365, 366, shape(Typed, ALL)),
    // Intel's shuffles and block reads.
    (5571, 5575, shape(Typed, ALL)),
    (5576, 5576, shape(Nothing, ALL)),
    (5577, 5577, shape(Typed, ALL)),
    (5578, 5578, shape(Nothing, ALL)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(SHAPES.iter().all(|(first, last, _)| first <= last));
        assert!(SHAPES.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    /// A row of the table in FORMAT.md: leading operands, ids among the other operands, opcodes.
    fn row(line: &str) -> Option<(&str, Vec<bool>, &str)> {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let [begins, ids, opcodes] = cells.as_slice() else { return None };
        let listed: Vec<usize> = ids.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
        let mut is_id = vec![*ids == "all" || ids.contains("from 8 on"); 12];
        for (n, is_id) in is_id.iter_mut().enumerate().take(8) {
            *is_id = *ids == "all" || listed.contains(&n);
        }
        Some((begins, is_id, opcodes))
    }

    #[test]
    fn the_table_of_the_document_is_the_same() {
        let document = include_str!("../../../../FORMAT.md");
        let (_, rest) = document.split_once("| begins with | ids among the others | opcodes |").unwrap();
        let mut documented = std::collections::BTreeMap::new();
        for (begins, ids, opcodes) in rest.lines().skip(2).map_while(row) {
            for range in opcodes.split(", ") {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                for opcode in first.parse::<u32>().unwrap()..=last.parse().unwrap() {
                    let duplicate = documented.insert(opcode, (begins, ids.clone()));
                    assert!(duplicate.is_none(), "{opcode} has two rows");
                }
            }
        }
        assert!(documented.len() > 200, "{}", documented.len());
        for opcode in 0..=0xffff {
            let shape = Shape::for_opcode(opcode);
            let begins = match shape.target {
                Target::None => "-",
                Target::Annotated => "target",
                Target::Result => "result",
                Target::TypedResult => "type, result",
            };
            let is_annotation = matches!(shape.target, Target::Annotated);
            let ids: Vec<bool> = (0..12).map(|n| !is_annotation && shape.is_id(n)).collect();
            let expected = documented.get(&opcode).cloned().unwrap_or(("-", vec![false; 12]));
            assert_eq!((begins, ids), expected, "opcode {opcode}");
        }
    }
}
