//! Bodies of the fuzz targets: the readers under test, and round trips through the writers.

#[path = "../../offload-containers/tests/damage/decode.rs"]
pub mod decode;
pub mod round_trip;
