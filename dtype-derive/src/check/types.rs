//! Field types whose syntax alone shows that they are not datatypes.
//!
//! An alias or a macro hides the syntax. The compiler then reports the type, in a less fitting message.

use syn::{Type, TypeArray, TypeGroup, TypeParen, TypeReference, TypeTuple};

use dtype_attributes::Errors;

/// Records each part of a field's type that cannot be described. The arguments of generic types do not matter:
/// `PhantomData<&T>` holds no reference.
pub(super) fn check(ty: &Type, errors: &mut Errors) {
    match ty {
        Type::Paren(TypeParen { elem, .. })
        | Type::Group(TypeGroup { elem, .. })
        | Type::Array(TypeArray { elem, .. }) => check(elem, errors),
        Type::Tuple(TypeTuple { elems, .. }) => {
            for elem in elems {
                check(elem, errors);
            }
        }
        _ => {
            if let Some(message) = refusal(ty) {
                errors.at(ty, message);
            }
        }
    }
}

/// The end of the advice for a field.
const SKIP: &str = ", or leave the field out with `#[dtype(skip)]`";

/// Records each part of the type of a message that cannot be sent.
pub(crate) fn check_message(ty: &Type, errors: &mut Errors) {
    let inner = match ty {
        Type::Reference(TypeReference { elem, .. }) => elem,
        _ => ty,
    };
    match inner {
        Type::Paren(TypeParen { elem, .. }) | Type::Group(TypeGroup { elem, .. }) => {
            check_message(elem, errors);
        }
        _ if is_str(inner) => errors.at(ty, "a message owns its text: hold a `String`"),
        Type::Slice(_) => errors.at(ty, "a message owns its records: hold a `Vec`"),
        _ => {
            let mut of_field = Errors::default();
            check(ty, &mut of_field);
            errors.extend(of_field, |message| {
                message.replace(SKIP, "").replace(": leave the field out with `#[dtype(skip)]`", "")
            });
        }
    }
}

/// Whether a struct with a last field of this type is unsized.
pub(crate) fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::Paren(TypeParen { elem, .. }) | Type::Group(TypeGroup { elem, .. }) => {
            is_unsized(elem)
        }
        Type::Slice(_) | Type::TraitObject(_) => true,
        _ => is_str(ty),
    }
}

fn is_str(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none() && path.path.is_ident("str"))
}

fn refusal(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Reference(_) => {
            "a reference is not a datatype: an address means nothing to another process. Store the \
             value itself, or leave the field out with `#[dtype(skip)]`"
        }
        Type::Ptr(_) => {
            "a pointer is not a datatype: an address means nothing to another process. Store the \
             value itself or an index into an array, or leave the field out with `#[dtype(skip)]`"
        }
        Type::FnPtr(_) => {
            "a function pointer is not a datatype: an address means nothing to another process. \
             Store an enum that says which function, or leave the field out with `#[dtype(skip)]`"
        }
        Type::TraitObject(_) => {
            "a trait object is not a datatype: its type is known only at run time. Store a concrete \
             type, or make the struct generic over it"
        }
        Type::ImplTrait(_) => {
            "`impl Trait` has no name here: make the struct generic over the type"
        }
        Type::Slice(_) => {
            "a slice is not a datatype: its length is not part of the type. Store an array `[T; N]` \
             and the length in use beside it"
        }
        Type::Never(_) => {
            "`!` has no values, so there is nothing to pack: leave the field out with \
             `#[dtype(skip)]`"
        }
        _ if is_str(ty) => {
            "`str` is not a datatype: its length is not part of the type. Store the bytes in an \
             array `[u8; N]` and the length in use beside it"
        }
        _ => return None,
    })
}
