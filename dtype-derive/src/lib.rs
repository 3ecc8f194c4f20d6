//! The procedural macro of `dtype-runtime`, which re-exports it: depend on that crate, not on this
//! one. What the macro accepts, and its attributes, are described at [`derive@Datatype`].

mod attr;
mod bound;
mod check;
mod emit;
mod errors;
mod hint;
mod lints;
mod model;
mod repr;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use crate::errors::Errors;
use crate::model::Item;

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
/// // Packed, a particle has 26 bytes; the padding of the struct is left out.
/// assert_eq!(Particle::TYPE_MAP.size(), 26);
/// assert_eq!(Particle::TYPE_MAP.stride(), 32);
/// ```
///
/// The type map lists the fields in the order of the source, wherever the compiler puts them in
/// memory, and is a constant. No `repr` is needed, and every `repr` is accepted.
///
/// # What can be derived
///
/// - Structs with named fields, tuple structs and unit structs, whose fields are datatypes: numbers,
///   `bool`, `char`, `NonZero` and `Option<NonZero>`, arrays, tuples, `PhantomData`, `Wrapping`,
///   `Saturating`, `ManuallyDrop`, and other derived types.
/// - Enums without data that name an integer with `#[repr(u8)]` or the like. They travel as that
///   integer, and only the values of the variants are accepted when they are unpacked.
/// - Generic types. Where the type of a field mentions a type parameter, the impl asks that the
///   field's type be a datatype; the parameter itself may be anything.
///
/// Not unions, enums with data, references, pointers, or types that keep their data elsewhere, such as
/// `Vec` and `String`: what would be packed is an address. Nor cells and atomics, which may change
/// while they are packed. The messages say what to write instead. All mistakes in an item are
/// reported in one go.
///
/// # Attributes of a struct
///
/// They are written `#[dtype(…)]`, several of them separated by commas or in several attributes.
/// A displacement or extent `E` is in bytes, and is any constant expression of type `i64`; it may
/// name `Self` and the type parameters.
///
/// ## `resize(lb = E, extent = E)`
///
/// Sets the lower bound and the extent, as `MPI_Type_create_resized` does. They count where the type
/// is used as an element of another datatype: with an extent of 64, consecutive elements start 64
/// bytes apart. Rust's own arrays and slices keep Rust's stride.
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
/// Place an LB or UB marker of MPI-1 at a displacement. A marker sets one bound and leaves the other as
/// it is, and it sets the flag `USER_LB` or `USER_UB`, which `resize` does not. Like the bounds of a
/// `resize` it is sticky: it goes on to bound what is built from this datatype with the constructors
/// of `Type`. (A derived struct of which this one is a field has its own bounds.) There is one of each
/// kind at most, and none beside `resize`, which would erase it.
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
/// Describes a struct of another crate: one with the same fields, all of them public, or a fieldless
/// enum with the same variants. `Describes<path::to::Type>` is then implemented in the place of
/// `Datatype`, for the use of [`with`](#with--pathtodescription). Layout and types are those of the
/// foreign struct; that the fields agree with it in name, number and type is checked. The fields
/// take attributes as usual.
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
/// ## `bound = "…"`
///
/// Where predicates, separated by commas, that replace those that the derive would have added. The
/// struct's own stay. May be empty.
///
/// ```
/// # use dtype_runtime::Datatype;
/// trait Unit {
///     type Value: Datatype;
/// }
///
/// // `U::Value: Datatype` would have been added, and asked of everyone who uses the type.
/// #[derive(Datatype)]
/// #[dtype(bound = "")]
/// struct Quantity<U: Unit> {
///     value: U::Value,
/// }
/// ```
///
/// ## `name = "…"`
///
/// The name that descriptions and messages show, instead of the type's own.
///
/// ## `crate = path::to::dtype_runtime`
///
/// Where the runtime is to be found, for macros and crates that re-export it. The default is
/// `::dtype_runtime`. It has to be that crate under whatever name, see [Safety](#safety).
///
/// # Attributes of an enum
///
/// `bound`, `crate`, `name` and `remote`, as those of a struct.
///
/// # Attributes of a field
///
/// ## `skip`
///
/// Leaves the field out of the type map, so that it is neither packed nor overwritten. Its type can
/// be anything.
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
/// ## `with = path::to::Description`
///
/// Describes the field, or the elements of an array, by a type that implements `Describes` for it:
/// one with `remote`, see there, or one with an `unsafe impl` for a type whose fields are private.
///
/// ## `lb` and `ub`
///
/// Place the marker of that name at the start or the end of the field, which may be one that is
/// skipped.
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
/// The derive is safe: it implements an `unsafe` trait and proves what that trait asks for. It makes
/// one promise in the name of the author, that the data fields may be overwritten with any values
/// that their types allow, private fields included. A type that keeps an invariant among its fields
/// should not be derived.
///
/// What is proved rests on the runtime. With `crate = path` the author vouches that the path leads to
/// `dtype_runtime`, as an `unsafe impl` would: a module that pretends to be it could give a field the
/// type map of another type.
#[proc_macro_derive(Datatype, attributes(dtype))]
pub fn derive_datatype(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let mut errors = Errors::default();
    let item = Item::read(&input, &mut errors);
    check::check(&item, &mut errors);
    let output = match errors.into_compile_errors() {
        None => emit::emit(&item),
        Some(mut output) => {
            output.extend(emit::fallback(&item));
            output
        }
    };
    output.into()
}
