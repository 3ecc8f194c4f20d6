//! The tests, a module for each subject.

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
mod search;
#[cfg(feature = "derive")]
mod short_records;
#[cfg(all(feature = "tokio-util", feature = "derive"))]
mod tokio;
#[cfg(feature = "derive")]
mod versions;

use dtype_test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
