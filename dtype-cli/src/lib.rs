//! The command `dtype`: shows and compares datatypes, and prints, packs and unpacks files with them.
//!
//! ```console
//! $ dtype 'resized(struct{f64, u32, u8}, 0, 16)'
//! ```
//!
//! The command is a thin layer over `dtype-runtime`. [`dtype_text`] reads and writes datatypes as text, in a
//! [notation](dtype_text::notation) and as [declarations](dtype_text::declaration) in C, Rust and NumPy; here, [`snippet`] shows
//! mistakes in a text, and [`debug_info`] reads types from an object file, a library or a program.
//!
//! # JSON
//!
//! `dtype info --json` prints one object; `dtype show --json` prints the same with more keys. All sizes, bounds,
//! extents and displacements are numbers of bytes. Keys do not change; others may be added.
//!
//! | key | value |
//! |---|---|
//! | `notation` | the type in the notation, a string; null for the few types that it cannot express |
//! | `size`, `lb`, `ub`, `extent`, `true_lb`, `true_ub`, `true_extent`, `align` | numbers of bytes |
//! | `elements` | the number of basic datatypes in an instance |
//! | `flags` | the names of the flags that are set |
//! | `signature_hash` | a 64-bit number |
//! | `signature`, `signature_complete` | runs of equal basic datatypes, each with `basic` and `count`; whether these are all: at most 4096 are written |
//! | `structure` | of a structure as a compiler lays it out, otherwise missing: `padding` in bytes, `gaps` (`after`, `offset`, `bytes`), `cache_lines`, and `reordered`, the best order of its fields: null, or `extent`, `saves`, `cache_lines` and `order`; `inner_padding`, the bytes of padding inside the members; `not_known`, why a number is null; `name`; `form`: `struct`, `union` or `enum`; `size`, `align`; `source`, `FILE:LINE`; of an enum with data `tag`: `offset`, `bytes` and `niche`, null or the field that does not use these values; `members` |
//! | a member | `name` (null if it has none), `type`, `what` if it is no data, `offset` (null if it is not fixed), `bytes`, `align`, `bits` (`first`, `width`) of a bit-field, `inner_padding`, `cache_lines`, the first and the last one, `line` of the declaration; a variant of an enum also `number` (missing for the variant that all others mean), `padding` and `members` |
//! | `envelope` | `combiner`, `num_integers`, `num_addresses`, `num_large_counts`, `num_datatypes` |
//! | `fields`, `fields_complete` | each with `path`, `basic`, `offset`, `bytes` and `repeated`: `count` and `stride` in bytes, which is null where it varies; at most 1024 |
//! | `description`, `description_complete` | the entries, each with `what`: `elem` (`basic`, `count`, `disp`, `extent`), `loop` (`loops`, `items`, `extent`) or `endloop` (`items`, `size`, `first_elem_disp`); at most 4096 |
//! | `optimized_description`, `optimized_description_complete` | the same after the optimizations of commit |
//!
//! The numbers of a struct with members that are no data are those of its datatype, which does not have these; `structure` has the
//! size and the alignment of the struct itself, and all members.
//!
//! For an object file without the name of a type, `dtype info --json` and `dtype show --json` print an array with an object for
//! each struct: `type`, its name, `part` of the file if others have this name, `size`, `padding`, `reordered`, the size with the
//! members in the best order, `align`, `inner_padding` and `source`.
//!
//! `dtype compare --json` prints `same_signature`, `same_type`, `same_size`, `same_bounds`, `same_type_map` (null when the
//! maps are too long to be compared), with `--memory` also `same_memory`, then `first_difference` (null, or `element` with
//! what `a` and `b` have there: null at the end, or `basic` and `displacement`; with `--memory`, in the order of memory),
//! `same_names` (null when there are no names, or fields of other types), `names` (the fields with different names, each
//! with `field`, `a` and `b`), `changes` (null if a type has no named fields, or too many), and what `info` says of `a` and `b`. A
//! change has `what` (`added`, `removed`, `moved`, `retyped` or `renamed`), `field`, and `a` and `b`, null or `field`, `type`, `offset`
//! and, of a bit-field, `first_bit`. Of two programs, it prints `same`, the number of types that are the same, `changed` (each with
//! `type`, `a` and `b` with `size`, `align` and `source`, and `changes`), and the names of those `removed` and `added`.
//!
//! `dtype dump --as json` prints one value for each record: an object for a structure, with the names or the numbers of
//! its members, an array for repeated types, and for a complex number an array of two. NaN, infinities and
//! `long double` values that no `f64` has are strings; the latter are hexadecimal, such as `"0x1.8p+20000"`. Text, an
//! array of one-byte characters, is a string with one character for each byte, U+0000 to U+00FF. It ends before its first zero
//! or, as NumPy's `S`, after its last byte that is not zero. A point in time is a string in ISO 8601, as NumPy prints it, a span
//! is a string of the number and the unit, `"5 ms"`, and `"NaT"` is neither. A `FixedStr`, a `Uuid` and an address are strings, a `FixedVec` is an array of its
//! items, and a `Maybe` is its value or null. An invalid value is an object with the key `invalid` and its bits as a hexadecimal
//! string.
//!
//! `dtype frame --as json` prints an object for each frame: `frame`, its number; `offset` and `length`; `form`, `full` or
//! `compact`; `version`, `tag`, `count`, `record_size`; `byte_order`, `little` or `big`; `signature_hash` and `schema_hash`,
//! null where the frame has none; `checksum`: `ok`, `wrong`, `missing` or `none`; `message`, the name of its kind, if a type
//! that was given is an enum of messages; `type` and `schema`, the text of a type or
//! a schema that the message holds, or null; `error`, null or `kind`, the name of the variant of `dtype_message::Error`, and
//! `message`. Where no frame starts, there is an object with `offset` and `error`, and bytes that were skipped have one
//! with `offset` and `skipped`. A record has `frame`, `record` and `value`, and precedes its frame, whose checksum is
//! known only at its end.
//!
//! With `--errors json`, a failure prints an object for each mistake on a line of standard error: `message` and `help`, which
//! may be null. A mistake in a text has also `text`, the name of the text; `start` and `end`, the bytes of the text that are
//! wrong; `line` and `column` of the first one, in characters from 1; `label`; `others`, more places, each with `start`, `end`
//! and `label`; `replacement`, null or the text to put there; `choices`, the names of the structs, if one has to be chosen.
//! Mistakes in the arguments are printed as text, and so are notes.

#![forbid(unsafe_code)]

mod arguments;
mod compare;
mod convert;
mod dataset;
pub mod debug_info;
mod dump;
mod failure;
mod field_paths;
mod forward;
mod frame;
mod info;
mod input;
mod json;
mod manual;
mod members;
mod mistakes;
mod npy;
mod output;
mod range;
mod records;
mod reorder;
mod run;
mod separate;
mod shape;
mod show;
pub mod snippet;
mod temporary;
mod types;
mod value;

pub use run::main;
