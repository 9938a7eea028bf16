//! What the fuzz targets run: the readers of the damage tests, and what is written again of what they accept.

#[path = "../../offload-containers/tests/damage/decode.rs"]
pub mod decode;
pub mod round_trip;
