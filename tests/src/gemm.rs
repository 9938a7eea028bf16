//! Kernel files that builds are measured with: tiled matrix products that differ in their tiles, with a header that all
//! include, and AMD's processors to build them for.

/// The header, `tile.h`.
pub const HEADER: &str = include_str!("../bench/rebuild/tile.h");
/// What an edit changes: a constant of the code, so that every image changes with it.
pub const EDITED: &str = "#define BIAS 0.0f";

const TEMPLATE: &str = include_str!("../bench/rebuild/gemm.cl.in");

/// Rows, columns and depth of a tile, and rows and columns for each work-item.
pub const TILES: [[u32; 5]; 8] = [
    [32, 32, 8, 2, 2],
    [64, 64, 8, 4, 4],
    [64, 64, 16, 4, 4],
    [32, 64, 16, 2, 4],
    [64, 32, 16, 4, 2],
    [128, 64, 8, 8, 4],
    [64, 128, 8, 4, 8],
    [32, 128, 8, 2, 8],
];

/// Processors and generic targets of each family, from the first with this code object format to the newest.
pub const TARGETS: [&str; 22] = [
    "gfx900",
    "gfx1100",
    "gfx90a",
    "gfx9-generic",
    "gfx906",
    "gfx908",
    "gfx942",
    "gfx950",
    "gfx1010",
    "gfx1012",
    "gfx1030",
    "gfx1031",
    "gfx1032",
    "gfx1101",
    "gfx1102",
    "gfx1103",
    "gfx1151",
    "gfx1200",
    "gfx1201",
    "gfx10-3-generic",
    "gfx11-generic",
    "gfx12-generic",
];

/// The source of the kernel `name` with this tile.
pub fn source(name: &str, tile: [u32; 5]) -> String {
    let names = ["@TM@", "@TN@", "@TK@", "@WM@", "@WN@"];
    let text = TEMPLATE.replace("@NAME@", name);
    names.into_iter().zip(tile).fold(text, |text, (name, value)| text.replace(name, &value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        for tile in TILES {
            let text = source("k", tile);
            assert!(!text.contains('@') && text.contains("void k("), "{text}");
            assert_eq!(text.matches(EDITED).count(), 1);
        }
    }

    #[test]
    fn targets_differ() {
        let distinct: std::collections::BTreeSet<_> = TARGETS.into_iter().collect();
        assert_eq!(distinct.len(), 22);
    }
}
