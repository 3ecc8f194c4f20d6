//! Turns arrays of Rust structs, and any other memory layout, into compact bytes and back: MPI-style datatypes for Rust.
//!
//! | you have | start with |
//! |---|---|
//! | structs | [`trait@Datatype`], [`pack`], [`unpack`]: [Structs](#structs) |
//! | columns, halos, lists of indices | [`Type`]: [Irregular layouts](#irregular-layouts) |
//! | arrays of the crate `ndarray` | the module `ndarray`, behind the feature of that name |
//! | a stream | the crate `dtype-message`: [Messages](#messages) |
//! | files of NumPy | the crate `dtype-npy` |
//! | buffers that are smaller than a message | [`Packer`], [`Unpacker`]: [In fragments](#in-fragments) |
//! | an MPI library | the crate `dtype-mpi` |
//!
//! This page is a tour. The book, in the folder `docs` of the repository, covers the same ground more slowly, with pictures:
//! *From struct to wire*, *Layouts*, *Bounds and markers*, *Fragments*. Other chapters map MPI's calls to functions (*Coming
//! from MPI*), compare other crates (*Coming from bytemuck, zerocopy, rkyv, rsmpi*), list the API (*API at a glance*), and
//! explain *How it works*.
//!
//! Until the first release, clone the repository beside your crate, and in the folder of your crate:
//!
//! ```console
//! cargo add dtype-runtime --path ../dtype/dtype-runtime
//! ```
//!
//! # Structs
//!
//! `#[derive(Datatype)]` reads a struct's layout from the compiler and turns it into a constant [type map](TypeMap).
//! [`pack`] copies the fields of a slice of structs into bytes, without the padding. [`unpack`] and [`unpack_into`] copy
//! them back. If the bytes would make an invalid `bool`, `char`, `NonZero` or enum, they return an error before they write
//! anything.
//!
//! ```
//! use dtype_runtime::{Datatype, Error};
//!
//! #[derive(Datatype, Clone, Debug, PartialEq)]
//! struct Particle {
//!     position: [f64; 3],
//!     charge: i8,
//!     fixed: bool,
//! }
//!
//! let particles = vec![Particle { position: [1.0, 2.0, 3.0], charge: -1, fixed: true }];
//! let bytes = dtype_runtime::pack(&particles);
//! assert_eq!(bytes.len(), 26); // a Particle takes 32
//!
//! assert_eq!(dtype_runtime::unpack::<Particle>(&bytes)?, particles);
//! # Ok::<(), Error>(())
//! ```
//!
//! [`Packed`] reads single records and fields of packed bytes without unpacking all of them. For types that are
//! all data, [`view`] and [`bytes_of`] turn bytes into records and records into bytes without a copy.
//! [`Maybe`], [`FixedStr`] and [`FixedVec`] are optional values, strings and lists of fixed size,
//! [`Timestamp`], [`TimeSpan`] and [`FixedDuration`] are points and spans of time, and [`FixedSocketAddr`] is a socket address.
//!
//! [`runs`] and [`gaps`] return the byte ranges of a value that are data and padding. [`zero_gaps`] clears the padding in
//! place, so that an array can be hashed or shared as bytes.
//!
//! # Irregular layouts
//!
//! [`Type`] has MPI's constructors (vectors, irregular blocks, structures, parts of arrays), which nest freely and
//! follow the standard's rules for bounds. [`Type::commit`] compiles a type. The [`Committed`] type packs from memory
//! given as bytes, and unpacks into it.
//!
//! ```
//! use dtype_runtime::{Basic, Type};
//!
//! // The two left columns of a 3 × 4 matrix of bytes: the resize makes the next column the next instance.
//! let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?;
//! let column = Type::resized(&column, 0, 1)?.commit();
//! let mut out = [0; 6];
//! column.pack(b"abcdefghijkl", 2, &mut out)?;
//! assert_eq!(&out, b"aeibfj");
//! # Ok::<(), dtype_runtime::Error>(())
//! ```
//!
//! # Looking at a type
//!
//! Every step from the type to the code that is executed can be inspected: [`Type::type_map`], [`Type::signature`],
//! [`Type::envelope`] and [`Type::contents`], [`Type::description`], [`Committed::optimized_description`], [`Committed::plan`],
//! and [`Committed::explain`], which names the routine for each operation. [`outline`] walks a layout level by level. The crate `dtype-show` draws layouts as text and as
//! SVG, and prints the calls that made a type, or a program that makes it again.
//!
//! # In fragments
//!
//! A transport takes data in its own units. [`Packer`] and [`Unpacker`] stop and resume at any byte, for a slice or a
//! committed type. They implement `io::Read` and `io::Write`, seek to any position, and several of them can work on one
//! message at the same time. Where the data lie in long segments, [`Packer::chunks`] lends them in place, for `writev`.
//! A [`convertor::Backend`] packs and unpacks memory that the CPU cannot touch, such as a device's.
//!
//! ```
//! use dtype_runtime::{Packer, Unpacker};
//!
//! let samples = [(1.5_f32, 7_u8), (2.5, 8)];
//! let mut copy = [(0.0, 0); 2];
//! let (mut packer, mut unpacker) = (Packer::new(&samples), Unpacker::new(&mut copy));
//! let mut fragment = [0; 3];
//! while !packer.is_complete() {
//!     let bytes = packer.pack(&mut fragment);
//!     unpacker.unpack(&fragment[..bytes])?;
//! }
//! assert_eq!(copy, samples);
//! # Ok::<(), dtype_runtime::Error>(())
//! ```
//!
//! # Between different machines
//!
//! A packed stream can be in any [`Representation`]: MPI's `external32`, either byte order, or the representation of a
//! foreign [`Architecture`](representation::Architecture). The sender or the receiver converts the values while copying
//! them, in fragments as well. A value that does not fit on the other side is an error.
//!
//! ```
//! use dtype_runtime::{Packer, Representation, Unpacker};
//!
//! let samples = [(1_u16, 2.5_f64)];
//! let mut bytes = [0; 10];
//! Packer::new(&samples).with_representation(Representation::External32)?.pack(&mut bytes)?;
//! assert_eq!(bytes, [0, 1, 0x40, 4, 0, 0, 0, 0, 0, 0]);
//!
//! let mut copy = [(0, 0.0)];
//! Unpacker::new(&mut copy).with_representation(Representation::External32)?.unpack(&bytes)?;
//! assert_eq!(copy, samples);
//! # Ok::<(), dtype_runtime::Error>(())
//! ```
//!
//! # Messages
//!
//! Packed bytes have no header. For streams, the crate `dtype-message` puts a frame around them, with the number of records,
//! the hash of their signature, the byte order and checksums. Its reader accepts bytes from untrusted peers, and returns
//! nothing that is not verified.
//!
//! # Storing and sending a type
//!
//! [`Type::marshal`] writes any type as compact bytes. [`Type::unmarshal`] reads them back on every platform, and refuses
//! malformed or hostile bytes. Equal types, made by the same calls, have equal bytes.
//!
//! # Vector instructions
//!
//! If the processor has the instructions for it, arrays of small records are packed several records at a time. The
//! processor is queried once; the packed bytes are the same on every one. [`isa`] reports the selected instruction
//! set, and changes it.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `derive` | yes | `#[derive(Datatype)]` |
//! | `std` | yes | `Read`, `Write` and `Seek` for the convertor; without it the crate is `no_std` with `alloc` |
//! | `crc32c` | no | `convertor::Crc32c`, a checksum over the packed stream |
//! | `rayon` | no | `Packer::par_pack` and `Unpacker::par_unpack`: large messages on all cores |
//! | `bytes` | no | `Packer` is a `bytes::Buf`, `Unpacker::buf_mut` lends a `bytes::BufMut` |
//! | `num-complex` | no | `Complex<f32>` and `Complex<f64>` are datatypes |
//! | `half` | no | `f16` and `bf16` are datatypes |
//! | `glam` | no | its vectors, matrices, quaternions and affine transforms are datatypes |
//! | `nalgebra` | no | its matrices and vectors of fixed size, points, quaternions, translations and scales are datatypes |
//! | `ordered-float` | no | `OrderedFloat` and `NotNan` are datatypes |
//! | `uuid` | no | `Uuid` is a datatype |
//! | `zerocopy` | no | its numbers of a fixed byte order, such as `byteorder::U32<BE>`, are datatypes |
//! | `ndarray` | no | the module `ndarray`: any array or view as a [`Type`], packed and unpacked in place |
//! | `serde` | no | [`Type`], [`Basic`], [`Flags`] and what [`types`] decodes to implement serde's traits; a type is its [marshalled](Type::marshal) bytes, in hexadecimal for human-readable formats; [`Maybe`], [`FixedStr`], [`FixedVec`] and [`FixedDuration`] are an option, a string, a list and a `Duration` |
//!
//! The types of `glam` and `nalgebra` have the signatures of the arrays that they are in memory, with matrices in column
//! order, so the other side can use plain arrays. Compile-time assertions check these layouts.
//!
//! - The fourth lane of `glam`'s `Vec3A`, and of `Mat3A` and `Affine3A`, which contain it, is not sent. It counts as a
//!   skipped field: these types, and structs that contain them, can be unpacked over existing values, but do not compile
//!   with [`unpack`]. `Vec3` has no such lane.
//! - The SIMD masks `BVec3A` and `BVec4A` are not datatypes: their layout differs between machines. `BVec3` and `BVec4`
//!   are.
//! - A type with an invariant is not a datatype, because received bytes could break the invariant: `nalgebra`'s `Unit`,
//!   `UnitQuaternion`, `Rotation`, `Isometry`, `Similarity`, `Transform` and projections. Send their parts
//!   and construct them again. `glam`'s `Quat` and affine transforms, whose fields are public, are datatypes.
//! - A `NotNan` is checked: a NaN is an invalid value. `uuid`'s `NonNilUuid` is not a datatype, because the crate does
//!   not guarantee its layout.
//! - A number of `zerocopy` with a fixed byte order has the signature of its bytes, `[u8; 4]` for a `U32<BE>`. The order is
//!   part of the type, so the bytes are the same on every machine, and no [`Representation`] swaps them.
//! - Matrices of dynamic size keep their elements on the heap, contiguously: pack the elements as a slice.
//!
//! # Sources
//!
//! The rules are those in the MPI standard, version 4.1, chapter 5; for the markers LB and UB, those in MPI-1.1, section
//! 3.12.3. The description and its optimization follow Open MPI's `opal_datatype_t`, and the stack view Open MPI's
//! `opal_convertor_t`, both as of 2014. [`Type::ucp_struct`] follows UCX's struct datatype proposal.
#![deny(unsafe_code)]
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

#[doc(hidden)]
#[path = "private.rs"]
#[allow(unsafe_code, reason = "reads the bits of an enum in constants")]
pub mod __private;
pub mod basic;
#[allow(unsafe_code, reason = "copies between records and columns, and owns a column's memory")]
mod columns;
pub mod commit;
#[allow(
    unsafe_code,
    reason = "lends memory to the kernels and to `bytes`, and converts single values"
)]
pub mod convertor;
#[allow(
    unsafe_code,
    reason = "the trait is unsafe to implement, as its implementations for foreign types are"
)]
pub mod datatype;
mod error;
pub mod explain;
#[allow(unsafe_code, reason = "implements the unsafe trait, and reads checked bytes as values")]
mod fields;
pub mod isa;
#[allow(unsafe_code, reason = "copies through raw pointers, which its callers have checked")]
mod kernel;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod outline;
pub mod plan;
pub mod representation;
#[cfg(feature = "serde")]
mod serialize;
#[allow(unsafe_code, reason = "a counted pointer")]
mod shared;
mod signature;
#[allow(unsafe_code, reason = "calls the kernels, and makes records of checked bytes")]
mod typed;
#[allow(unsafe_code, reason = "the check of a record takes its bytes")]
pub mod typemap;
pub mod types;

/// The units of [`Timestamp`] and [`TimeSpan`].
pub mod time {
    pub use crate::fields::{Microseconds, Milliseconds, Nanoseconds, Seconds, Unit};
}

pub use basic::{Basic, Validity};
pub use columns::{Column, ColumnField, ColumnIter, Columns, columns};
pub use commit::Committed;
pub use convertor::{Buffer, BufferMut, Packer, Unpacker};
pub use datatype::{Datatype, Describes};
#[cfg(feature = "derive")]
pub use dtype_derive::Datatype;
pub use error::{Error, Malformed};
pub use fields::{FixedDuration, FixedSocketAddr, FixedStr, FixedVec, Maybe, TimeSpan, Timestamp};
pub use representation::Representation;
pub use typed::{
    AppendBytes, ByteRanges, Packed, PackedIter, bytes_of, bytes_of_mut, gaps, pack, pack_as,
    pack_into, pack_iter, pack_onto, packed_size, runs, unpack, unpack_as, unpack_into, unpack_one,
    view, view_memory, view_mut, zero_gaps,
};
pub use typemap::TypeMap;
pub use types::{
    BoundsRule, Combiner, Contents, Distribution, Envelope, Flags, Order, Pair, Signature, Type,
};
