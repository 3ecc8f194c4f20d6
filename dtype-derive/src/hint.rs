//! Chooses the runtime's message for a field whose type is not a datatype.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::{GenericArgument, Path, PathArguments, Type, TypeArray, TypeGroup, TypeParen, TypePath};

/// A guess at what is wrong with a type, from its path alone.
///
/// A user's datatype that is called `Vec` is accepted, unless it has a parameter that is not a datatype: then the bound that
/// the derive adds is not enough, and the message for `Vec` says so and names `bound`, which replaces it. Any other type would
/// be refused in any case, in less fitting words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hint {
    None,
    /// The type keeps its data on the heap.
    Heap,
    /// The value can change while it is shared.
    Cell,
    /// The value may be uninitialised.
    Uninit,
    /// The type has no defined layout.
    Option,
    /// A time of the standard library, which does not define its layout.
    Time,
    /// A socket address of the standard library, which does not define its layout.
    Address,
    /// The field that the struct form of `bitflags!` adds.
    Bitflags,
    /// The value has no meaning in another process.
    Opaque,
}

/// The modules that a path to a type of the standard library may name. A path through any other module, such as
/// `heapless::Vec`, leads to a type whose layout the name does not tell.
const MODULES: &[&str] = &[
    "alloc",
    "any",
    "atomic",
    "borrow",
    "boxed",
    "btree_map",
    "btree_set",
    "cell",
    "collections",
    "core",
    "ffi",
    "hash_map",
    "hash_set",
    "mem",
    "net",
    "option",
    "path",
    "rc",
    "result",
    "std",
    "string",
    "sync",
    "thread",
    "time",
    "vec",
];

impl Hint {
    /// The hint for a field of this type, or of arrays of it.
    pub(crate) fn for_type(ty: &Type) -> Self {
        match ty {
            Type::Paren(TypeParen { elem, .. })
            | Type::Group(TypeGroup { elem, .. })
            | Type::Array(TypeArray { elem, .. }) => Self::for_type(elem),
            // `<Flags as bitflags::__private::PublicFlags>::Internal`
            Type::Path(TypePath { qself: Some(_), path, .. }) => {
                let is_bitflags = path.segments.iter().any(|s| s.ident == "PublicFlags");
                if is_bitflags { Self::Bitflags } else { Self::None }
            }
            Type::Path(TypePath { qself: None, path, .. }) => Self::for_path(path),
            _ => Self::None,
        }
    }

    fn for_path(path: &Path) -> Self {
        let mut names = path.segments.iter().map(|segment| segment.ident.unraw().to_string());
        let Some(name) = names.next_back() else { return Self::None };
        if names.all(|module| MODULES.contains(&module.as_str())) {
            Self::named(&name)
        } else {
            Self::None
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "Arc" | "BTreeMap" | "BTreeSet" | "BinaryHeap" | "Box" | "Bytes" | "BytesMut"
            | "CString" | "Cow" | "HashMap" | "HashSet" | "LinkedList" | "OsString" | "PathBuf"
            | "Rc" | "String" | "Vec" | "VecDeque" | "Weak" => Self::Heap,
            "AtomicBool" | "AtomicI8" | "AtomicI16" | "AtomicI32" | "AtomicI64" | "AtomicIsize"
            | "AtomicPtr" | "AtomicU8" | "AtomicU16" | "AtomicU32" | "AtomicU64"
            | "AtomicUsize" | "Cell" | "LazyCell" | "LazyLock" | "Mutex" | "OnceCell"
            | "OnceLock" | "RefCell" | "RwLock" | "SyncUnsafeCell" | "UnsafeCell" => Self::Cell,
            "MaybeUninit" => Self::Uninit,
            "Option" | "Result" => Self::Option,
            "Duration" | "Instant" | "SystemTime" => Self::Time,
            "IpAddr" | "SocketAddr" | "SocketAddrV4" | "SocketAddrV6" => Self::Address,
            "Layout" | "ThreadId" | "TypeId" => Self::Opaque,
            _ => Self::None,
        }
    }

    /// The function of the runtime that makes the field's map from its projection.
    pub(crate) fn function(self) -> Ident {
        let name = match self {
            Self::None => "field_map",
            Self::Heap => "field_map_heap",
            Self::Cell => "field_map_cell",
            Self::Uninit => "field_map_uninit",
            Self::Option => "field_map_option",
            Self::Time => "field_map_time",
            Self::Address => "field_map_address",
            Self::Bitflags => "field_map_bitflags",
            Self::Opaque => "field_map_opaque",
        };
        Ident::new(name, Span::mixed_site())
    }

    /// The trait of the runtime with the message; `None` for a type of which nothing is known.
    pub(crate) fn bound(self) -> Option<Ident> {
        let name = match self {
            Self::None => return None,
            Self::Heap => "OwnsNoHeap",
            Self::Cell => "IsNotCell",
            Self::Uninit => "IsInitialised",
            Self::Option => "HasLayout",
            Self::Time => "IsNotTime",
            Self::Address => "IsNotAddress",
            Self::Bitflags => "IsNotBitflags",
            Self::Opaque => "IsNotOpaque",
        };
        Some(Ident::new(name, Span::mixed_site()))
    }

    /// Whether no standard-library type of that name is a datatype, whatever its arguments are.
    pub(crate) fn is_hopeless(ty: &Type) -> bool {
        match Self::for_type(ty) {
            // The types of the standard library with these hints have no parameters, so a type that mentions
            // one is the author's own.
            Self::None | Self::Time | Self::Address | Self::Bitflags | Self::Opaque => false,
            // `Option<T>` is a datatype for the right `T`; `Box<_>` never is.
            Self::Option => {
                argument(ty).is_some_and(|argument| Self::for_type(argument) != Self::None)
            }
            Self::Heap | Self::Cell | Self::Uninit => true,
        }
    }
}

/// A type that a message may have for all its records.
pub(crate) enum List<'a> {
    Text,
    /// A `Vec` of these.
    Records(&'a Type),
}

/// What a type is a list of, by its path alone.
pub(crate) fn list(ty: &Type) -> Option<List<'_>> {
    match ty {
        Type::Paren(TypeParen { elem, .. }) | Type::Group(TypeGroup { elem, .. }) => list(elem),
        Type::Path(TypePath { qself: None, path, .. }) if Hint::for_path(path) == Hint::Heap => {
            match path.segments.last()?.ident.unraw().to_string().as_str() {
                "String" => Some(List::Text),
                "Vec" => argument(ty).map(List::Records),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The first argument of a generic type.
fn argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
