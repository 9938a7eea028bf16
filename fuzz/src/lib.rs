//! What the fuzz targets run: the readers of the damage tests.

#[path = "../../offload-containers/tests/damage/decode.rs"]
pub mod decode;
