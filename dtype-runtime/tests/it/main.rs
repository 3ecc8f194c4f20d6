//! The tests, a module for each subject.

mod fragments;
mod sources;

mod backend;
mod bounds;
#[cfg(feature = "bytes")]
mod buf_mut;
// The sizes in this module need 64-bit addresses.
#[cfg(target_pointer_width = "64")]
mod buffers;
#[cfg(feature = "derive")]
mod checked;
#[cfg(all(feature = "derive", target_pointer_width = "64", unix))]
mod converted_streams;
mod convertor;
mod decoding;
#[cfg(feature = "derive")]
mod derived;
#[cfg(feature = "std")]
mod every_stream;
// The sizes in this module need 64-bit addresses.
#[cfg(target_pointer_width = "64")]
mod extremes;
#[cfg(all(feature = "half", feature = "num-complex", feature = "derive"))]
mod features;
mod golden;
mod imports;
#[cfg(all(
    feature = "derive",
    any(
        all(feature = "glam", feature = "nalgebra"),
        all(feature = "ordered-float", feature = "uuid", feature = "zerocopy")
    )
))]
mod interchangeable;
#[cfg(feature = "derive")]
// The sizes in this module need 64-bit addresses.
#[cfg(target_pointer_width = "64")]
mod limits;
mod lists;
mod marshal;
mod marshal_memory;
#[cfg(all(feature = "ndarray", feature = "derive"))]
mod ndarray;
#[cfg(all(feature = "ordered-float", feature = "uuid", feature = "zerocopy", feature = "derive"))]
mod other_crates;
mod outline;
#[cfg(any(feature = "derive", feature = "std"))]
mod polynomial;
mod predefined;
mod properties;
#[cfg(feature = "derive")]
mod renamed;
#[cfg(feature = "derive")]
mod representation;
mod segments;
#[cfg(feature = "serde")]
mod serde;
mod signatures;
mod spare_bytes;
mod stack;
mod std_types;
#[cfg(feature = "derive")]
mod streams;
mod transposes;
mod ucp;
mod value_checks;
#[cfg(all(feature = "glam", feature = "nalgebra", feature = "derive"))]
mod vectors;
#[cfg(feature = "derive")]
mod views;

use dtype_test_support::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
