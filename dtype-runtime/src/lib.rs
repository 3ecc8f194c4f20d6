//! MPI-style datatypes for Rust: describe a memory layout once, then pack, unpack and inspect it.
//!
//! | you have | start with |
//! |---|---|
//! | structs | [`derive@Datatype`], [`pack`], [`unpack`]: [Structs](#structs) |
//! | columns, halos, lists of indices | [`Type`]: [Irregular layouts](#irregular-layouts) |
//! | arrays of the crate `ndarray` | the module `ndarray`, with the feature of that name |
//! | a stream | [Messages](#messages) |
//! | buffers that are smaller than a message | [`Packer`], [`Unpacker`]: [In fragments](#in-fragments) |
//! | an MPI library | the crate `dtype-mpi` |
//!
//! What follows is a tour. The book, in the folder `docs` of the repository, takes it at leisure and in pictures: *From
//! struct to wire*, *Layouts*, *Bounds and markers*, *Fragments*; what each call of MPI is here (*Coming from MPI*);
//! when another crate is the better choice (*Coming from bytemuck, zerocopy, rkyv, rsmpi*); *How it works*, and a
//! glossary.
//!
//! # Structs
//!
//! `#[derive(Datatype)]` reads a struct's layout from the compiler and makes a constant
//! [type map](TypeMap) of it. [`pack`] copies the fields of a slice of structs, without the padding,
//! into bytes; [`unpack`] and [`unpack_into`] put them back, and refuse bytes that would make an
//! invalid `bool`, `char`, `NonZero` or enum before anything is written.
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
//! [`runs`] and [`gaps`] say which bytes of a value are data and which are padding; [`zero_gaps`]
//! clears the padding in place, so that an array can be hashed or shared as bytes.
//!
//! # Irregular layouts
//!
//! [`Type`] has the constructors of MPI: vectors, irregular blocks, structures, parts of arrays, nested as
//! you like, with the bounds of the standard. [`Type::commit`] compiles one; the [`Committed`] type packs from and
//! unpacks into plain bytes.
//!
//! ```
//! use dtype_runtime::{Basic, Type};
//!
//! // The left column of a 3 × 4 matrix of bytes, twice: the resize makes columns neighbours.
//! let column = Type::vector(3, 1, 4, &Type::basic(Basic::U8))?;
//! let column = Type::resized(&column, 0, 1)?.commit();
//! let mut out = [0; 6];
//! column.pack(b"abcdefghijkl", 0, 2, &mut out)?;
//! assert_eq!(&out, b"aeibfj");
//! # Ok::<(), dtype_runtime::Error>(())
//! ```
//!
//! # Looking at a type
//!
//! Every step from the type to what is executed can be read: [`Type::type_map`],
//! [`Type::signature`], [`Type::envelope`] and [`Type::contents`], [`Type::description`],
//! [`Committed::optimized_description`], [`Committed::plan`]. The module [`show`] has what is made for people:
//! pictures as text and as SVG, plans in words, the tree of calls, the program that makes a type, the dtype that
//! reads it in NumPy.
//!
//! ```
//! use dtype_runtime::Datatype;
//! use dtype_runtime::show::{Diagram, TextStyle, View};
//!
//! #[derive(Datatype)]
//! #[repr(C)]
//! struct Sample {
//!     valid: bool,
//!     value: f64,
//!     tags: [u16; 3],
//! }
//!
//! let picture = Diagram::of::<Sample>(&View::default());
//! assert_eq!(
//!     picture.text(&TextStyle::default()).to_string(),
//!     "\
//! Sample: size 15, lb 0, extent 24, true lb 0, true extent 22
//!
//!   0       8       16
//! 0 ■□□□□□□□■■■■■■■■■■■■■■□□
//!   a       b·······c·c·c·
//!   └───── extent 24 ──────┘
//!   └── true extent 22 ──┘
//!
//!    field  type     offset  bytes
//! a  valid  bool          0      1
//! b  value  f64           8      8
//! c  tags   u16 × 3      16      6
//! "
//! );
//! ```
//!
//! # In fragments
//!
//! A transport takes as many bytes as it likes. [`Packer`] and [`Unpacker`] stop and go on at any byte, of a
//! slice or of a committed type; they are `io::Read` and `io::Write`, go to any position, and several of them
//! work on one message at a time. Where the data are long pieces, [`Packer::chunks`] lends them as they lie in
//! memory, for `writev`.
//! Memory that the CPU cannot touch, a device's, is packed and unpacked through a [`convertor::Backend`].
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
//! A packed stream can be in any [`Representation`]: MPI's `external32`, either byte order, or as a foreign
//! [`Architecture`](representation::Architecture) has its values. They are converted as they are copied, by the
//! sender or the receiver, in fragments as well; a value that has no room on the other side is an error.
//!
//! ```
//! use dtype_runtime::{Packer, Representation, Unpacker};
//!
//! let samples = [(1_u16, 2.5_f64)];
//! let mut bytes = [0; 10];
//! Packer::new(&samples).represented(Representation::External32)?.pack(&mut bytes)?;
//! assert_eq!(bytes, [0, 1, 0x40, 4, 0, 0, 0, 0, 0, 0]);
//!
//! let mut copy = [(0, 0.0)];
//! Unpacker::new(&mut copy).represented(Representation::External32)?.unpack(&bytes)?;
//! assert_eq!(copy, samples);
//! # Ok::<(), dtype_runtime::Error>(())
//! ```
//!
//! # Messages
//!
//! Packed bytes have no header. On a stream, the module `message` (with the feature of that name) puts a frame around
//! them: how many records, the hash of their signature, the byte order, checksums. Its reader takes bytes from anyone,
//! and hands nothing out that is not verified.
//!
//! # Keeping and sending a type
//!
//! [`Type::marshal`] writes any type as compact bytes that every platform reads back with [`Type::unmarshal`],
//! which takes bytes from anywhere. Equal types, made by the same calls, have equal bytes.
//!
//! # Instructions of the processor
//!
//! Arrays of small records are packed several records at a time where the processor has instructions for it,
//! which is found out once; the bytes are the same everywhere. [`kernels`] says what is used, and changes it.
//!
//! # Features
//!
//! | feature | default | what |
//! |---|---|---|
//! | `derive` | yes | `#[derive(Datatype)]` |
//! | `std` | yes | `Read` and `Write` for the convertor; without it the crate is `no_std` with `alloc` |
//! | `crc32c` | no | `convertor::Crc32c`, a checksum over the packed stream |
//! | `rayon` | no | `Packer::par_pack` and `Unpacker::par_unpack`: large messages on all cores |
//! | `message` | no | [`message`]: records on any stream, in frames with a checksum |
//! | `bytes` | no | `Packer` is a `bytes::Buf`, [`Unpacker::buf_mut`] a `bytes::BufMut` |
//! | `num-complex` | no | `Complex<f32>` and `Complex<f64>` are datatypes |
//! | `half` | no | `f16` and `bf16` are datatypes |
//! | `glam` | no | its vectors, matrices, quaternions and affine transforms are datatypes |
//! | `nalgebra` | no | its matrices and vectors of fixed size, points, quaternions, translations and scales are datatypes |
//! | `ndarray` | no | [`ndarray`]: any array or view as a [`Type`], packed and unpacked where it lies |
//! | `serde` | no | [`Type`], [`Basic`], [`Flags`] and what [`types`] decodes to implement serde's traits; a type as its [marshalled](Type::marshal) bytes, hexadecimal where people read it |
//!
//! The types of `glam` and `nalgebra` have the signatures of the arrays that they are in memory, matrices column by
//! column: the other side may have plain arrays. That they lie so is asserted where they are compiled.
//!
//! - The fourth lane of `glam`'s `Vec3A`, and of what is made of it, `Mat3A` and `Affine3A`, is not sent. It counts as
//!   a skipped field, so that these types, and structs that have them, can be unpacked over existing values, and do not
//!   compile with [`unpack`]. `Vec3` has no such lane.
//! - Masks of registers, `BVec3A` and `BVec4A`, have no layout that two machines agree on; `BVec3` and `BVec4` do.
//! - What keeps an invariant is no datatype, since bytes from elsewhere could break it: `nalgebra`'s `Unit`,
//!   `UnitQuaternion`, `Rotation`, `Isometry`, `Similarity`, `Transform` and projections. Send what they are made of and
//!   make them anew; `glam`'s `Quat` and affine transforms, which anyone can set to anything, are datatypes.
//! - Matrices with a size that is known at run time only keep their elements elsewhere, in one piece: pack those as a
//!   slice.
//!
//! # Sources
//!
//! The rules are those of the MPI standard, version 4.1, chapter 5; for the markers LB and UB, of
//! MPI 1.1, section 3.12.3. The description and its optimization follow Open MPI's
//! `opal_datatype_t`, and the stack view its `opal_convertor_t`, as notes on their 2014 sources
//! describe them; where this documentation says "seed", it means these notes.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod basic;
pub mod commit;
pub mod convertor;
pub mod datatype;
mod error;
mod kernel;
#[cfg(feature = "message")]
pub mod message;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(test)]
mod numbers;
pub mod representation;
#[cfg(feature = "serde")]
mod serialize;
mod shared;
pub mod show;
mod signature;
mod typed;
pub mod typemap;
pub mod types;

pub use basic::{Basic, Validity};
pub use commit::Committed;
pub use convertor::{Packer, Unpacker};
pub use datatype::{Datatype, Describes};
#[cfg(feature = "derive")]
pub use dtype_derive::Datatype;
pub use error::{Error, Malformed};
pub use kernel::isa as kernels;
pub use representation::Representation;
pub use typed::{
    ByteRanges, gaps, pack, pack_into, packed_size, runs, unpack, unpack_into, zero_gaps,
};
pub use typemap::TypeMap;
pub use types::{
    Bounds, Combiner, Contents, Distribution, Envelope, Flags, Order, Pair, Signature, StructField,
    Type,
};

/// The code in the README is compiled and run with the documentation tests.
#[cfg(all(doctest, feature = "derive"))]
#[doc = include_str!("../../README.md")]
mod readme {}
