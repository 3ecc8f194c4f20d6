//! The procedural macro of `dtype-runtime`. Depend on that crate, which re-exports it, not on this one.
//! [`derive@Datatype`] describes what the macro accepts, and its attributes.

#![forbid(unsafe_code)]

mod bound;
mod check;
mod emit;
mod hint;
mod lints;
mod messages;
mod model;
mod repr;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use crate::model::Item;
use dtype_attributes::Errors;

/// Describes a struct or an enum as a datatype: implements `dtype_runtime::Datatype` for it.
///
/// ```
/// use dtype_runtime::Datatype;
///
/// #[derive(Datatype)]
/// struct Particle {
///     position: [f64; 3],
///     charge: i8,
///     alive: bool,
/// }
///
/// // A packed particle has 26 bytes: the padding is left out.
/// assert_eq!(Particle::TYPE_MAP.size(), 26);
/// assert_eq!(Particle::TYPE_MAP.stride(), 32);
/// ```
///
/// The type map is a constant. It lists the fields in the order of the source, wherever the compiler puts
/// them in memory. The derive needs no `repr` and accepts every `repr`.
///
/// # What can be derived
///
/// - Structs with named fields, tuple structs and unit structs whose fields are datatypes: numbers,
///   `bool`, `char`, `NonZero` and `Option<NonZero>`, arrays, tuples, `PhantomData`, `Wrapping`,
///   `Saturating`, `ManuallyDrop`, and other derived types.
/// - Enums without data that have a primitive `repr`, such as `#[repr(u8)]`. They are packed as that
///   integer, and unpacking accepts only the values of the variants.
/// - Generic types. If the type of a field mentions a type parameter, the impl requires that the
///   field's type is a datatype; the parameter itself may be anything.
///
/// The derive refuses unions, enums with data, references, pointers, and types that keep their data on
/// the heap, such as `Vec` and `String`: only an address would be packed. It refuses cells and atomics,
/// which may change while they are packed. The messages say what to write instead, and one compilation
/// reports all mistakes in an item. In a crate of edition 2015, the compiler does not show these messages.
///
/// # Attributes of a struct
///
/// Attributes are written `#[dtype(…)]`; separate several by commas, or write several `#[dtype(…)]`.
/// A displacement or extent `E` is in bytes. It is any constant expression of type `i64`, and may name
/// `Self` and the type parameters.
///
/// ## `resize(lb = E, extent = E)`
///
/// Sets the lower bound and the extent, as `MPI_Type_create_resized` does (MPI-4.1 section 5.1.7). They matter if the type is
/// an element of another datatype: with an extent of 64, the stride from one element to the next is 64 bytes. Rust's own arrays
/// and slices keep Rust's stride.
///
/// ```
/// # use dtype_runtime::Datatype;
/// #[derive(Datatype)]
/// #[dtype(resize(lb = 0, extent = 4 * size_of::<f64>() as i64))]
/// struct FirstOfFour(f64);
/// ```
///
/// ## `lb = E` and `ub = E`
///
/// Place an LB or UB marker of MPI-1.1 (section 3.12.3) at a displacement. A marker sets one bound, leaves
/// the other unchanged, and sets the flag `USER_LB` or `USER_UB`, which `resize` does not. Like the bounds
/// of `resize`, a marker is sticky: it also bounds the types that the constructors of `Type` build from
/// this one. (A derived struct with a field of this type has its own bounds.) A struct has at most one
/// marker of each kind, and none together with `resize`, which would erase it.
///
/// ```
/// # use dtype_runtime::Datatype;
/// #[derive(Datatype)]
/// #[dtype(lb = -8, ub = 64)]
/// struct Cell {
///     value: f64,
/// }
/// ```
///
/// ## `remote = path::to::Type`
///
/// Describes a foreign type: a struct with the same fields, all public, or a fieldless enum with the same
/// variants. The derive then implements `Describes<path::to::Type>` instead of `Datatype`, for the
/// attribute [`with`](#with--pathtodescription). It reads the layout and the types from the foreign
/// struct, and checks that the fields agree in name, number and type. The fields take attributes as
/// usual.
///
/// ```
/// # mod geometry { pub struct Point { pub x: f32, pub y: f32 } }
/// use dtype_runtime::Datatype;
///
/// #[derive(Datatype)]
/// #[dtype(remote = geometry::Point)]
/// struct Point {
///     x: f32,
///     y: f32,
/// }
///
/// #[derive(Datatype)]
/// struct Triangle {
///     #[dtype(with = Point)]
///     corners: [geometry::Point; 3],
///     colour: u32,
/// }
///
/// assert_eq!(Triangle::TYPE_MAP.size(), 28);
/// ```
///
/// ## `check = path::to::function`
///
/// A function that checks an invariant of the struct: a `fn(&Self) -> bool`, or a `fn(&Self) -> Result<(), E>` where
/// `E` is `Display`. Every function that unpacks values calls it for each value, before it writes anything, and returns
/// `Error::CheckFailed` if the invariant does not hold. With it, a type with private fields and an invariant can derive
/// `Datatype`. Unpacking such a type is slower, because every value is made twice.
///
/// The struct must not skip fields.
///
/// ```
/// use dtype_runtime::{Datatype, Error, pack, unpack};
///
/// #[derive(Datatype, Debug)]
/// #[dtype(check = Interval::is_ordered)]
/// struct Interval {
///     start: f64,
///     end: f64,
/// }
///
/// impl Interval {
///     fn is_ordered(&self) -> Result<(), String> {
///         let Self { start, end } = self;
///         if start <= end { Ok(()) } else { Err(format!("{start} is after {end}")) }
///     }
/// }
///
/// assert!(unpack::<Interval>(&pack(&[1.0, 2.0])).is_ok());
/// let error = unpack::<Interval>(&pack(&[1.0, 2.0, 4.0, 3.0])).unwrap_err();
/// assert_eq!(error.to_string(), "record 1: not a valid Interval: 4 is after 3");
/// ```
///
/// ## `bound = "…"`
///
/// A list of `where` predicates, separated by commas, that replaces those the derive would add. The item's own `where`
/// clause remains. The list may be empty.
///
/// ```
/// # use dtype_runtime::Datatype;
/// trait Unit {
///     type Value: Datatype;
/// }
///
/// // The derive would add `U::Value: Datatype`, and every use of the type would have to repeat it.
/// #[derive(Datatype)]
/// #[dtype(bound = "")]
/// struct Quantity<U: Unit> {
///     value: U::Value,
/// }
/// ```
///
/// A field needs it if its type is a generic datatype of your own that has the name of a type of the standard library,
/// such as `Cell<U>`, and a parameter that is not a datatype: `bound = "Cell<U>: Datatype"`.
///
/// ## `name = "…"`
///
/// The name that descriptions and messages show instead of the type's own.
///
/// ## `crate = path::to::dtype_runtime`
///
/// The path of the runtime, for macros and crates that re-export it. The default is `::dtype_runtime`.
/// The path must lead to that crate, under any name; see [Safety](#safety).
///
/// # Attributes of an enum
///
/// `bound`, `crate`, `name` and `remote`, with the meaning they have on a struct.
///
/// # Attributes of a variant
///
/// [`rename`](#rename--), with the meaning it has on a field.
///
/// # Attributes of a field
///
/// ## `skip`
///
/// Leaves the field out of the type map: it is neither packed nor overwritten, and may have any type.
///
/// ```
/// # use dtype_runtime::Datatype;
/// #[derive(Datatype)]
/// struct Body {
///     mass: f64,
///     #[dtype(skip)]
///     label: String,
/// }
///
/// assert_eq!(Body::TYPE_MAP.size(), 8);
/// ```
///
/// ## `rename = "…"`
///
/// The name of the field in the type map, instead of its own: in files and columns, pictures, schemas and errors. It may be any
/// text without the character NUL. Two fields with the same name are refused, unless one of them is skipped.
///
/// ```
/// use dtype_runtime::{Datatype, columns};
///
/// #[derive(Datatype)]
/// struct Step {
///     #[dtype(rename = "total blocks")]
///     total_blocks: i32,
///     time: f64,
/// }
///
/// let steps = columns(&[Step { total_blocks: 7, time: 0.5 }]);
/// assert_eq!(steps.get::<i32>("total blocks")?, [7]);
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
///
/// ## `with = path::to::Description`
///
/// Describes the field, or the elements of an array, by a type that implements `Describes` for it: a
/// struct with [`remote`](#remote--pathtotype), or a type with an `unsafe impl` if the fields of the
/// foreign type are private.
///
/// ## `lb` and `ub`
///
/// Place the marker of that name at the start or the end of the field, which may be a skipped one.
///
/// ```
/// # use dtype_runtime::Datatype;
/// #[derive(Datatype)]
/// struct Framed {
///     #[dtype(skip, lb)]
///     before: [u64; 2],
///     value: f32,
///     #[dtype(skip, ub)]
///     after: [u64; 2],
/// }
/// ```
///
/// # Safety
///
/// The derive is safe to use: it implements an `unsafe` trait, and the emitted code proves what that trait requires.
/// The author guarantees one thing: that unpacking may overwrite the data fields, private ones included, with any
/// values of their types. If the type has an invariant, name a function that checks it with
/// [`check`](#check--pathtofunction), or do not derive.
///
/// The proof relies on the runtime. With `crate = path` the author guarantees that the path leads to
/// `dtype_runtime`, as with an `unsafe impl`: another module at that path could give a field the type map
/// of another type.
#[proc_macro_derive(Datatype, attributes(dtype))]
pub fn derive_datatype(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let mut errors = Errors::default();
    let item = Item::read(&input, &mut errors);
    check::check(&item, &mut errors);
    let output = match errors.into_error().map(syn::Error::into_compile_error) {
        None => emit::emit(&item),
        Some(mut output) => {
            output.extend(emit::fallback(&item));
            output
        }
    };
    output.into()
}

/// Implements `dtype_message::Messages` for an enum whose variants are the messages of a stream.
///
/// Each variant holds one value that is a message itself (a record, a `Vec` of records or a `String`), or nothing.
/// `#[dtype(tag = N)]` on a variant sets the tag that identifies it; without the attribute, a variant has the
/// previous variant's tag plus 1, and the first has tag 0. `#[dtype(crate = path)]` on the enum sets the path of
/// `dtype_message`.
#[proc_macro_derive(Messages, attributes(dtype))]
pub fn derive_messages(input: TokenStream) -> TokenStream {
    messages::derive(&parse_macro_input!(input as DeriveInput)).into()
}
