//! What the fuzz targets run: the readers of the damage tests.

#[path = "../../offload-format/tests/damage/decode.rs"]
pub mod decode;
