//! The tests, a module for each subject.

#[path = "../../../dtype-runtime/tests/counting/mod.rs"]
mod counting;
#[path = "../frames/mod.rs"]
mod frames;
#[cfg(feature = "derive")]
#[path = "../../../dtype-runtime/tests/fused/mod.rs"]
mod fused;
#[path = "../../../dtype-runtime/tests/numbers/mod.rs"]
mod numbers;
#[cfg(feature = "derive")]
#[path = "../../../dtype-runtime/tests/odd_names/mod.rs"]
mod odd_names;

#[cfg(feature = "derive")]
mod checked;
mod damage;
mod decoder_memory;
#[cfg(feature = "derive")]
mod heads;
#[cfg(feature = "derive")]
mod kinds;
#[cfg(feature = "derive")]
mod memory;
mod messages;
#[cfg(feature = "derive")]
mod peers;
#[cfg(feature = "derive")]
mod protocol;
#[cfg(feature = "derive")]
mod record_memory;
#[cfg(feature = "derive")]
mod schema;
#[cfg(feature = "derive")]
mod short_records;
#[cfg(all(feature = "tokio-util", feature = "derive"))]
mod tokio;
#[cfg(feature = "derive")]
mod versions;
