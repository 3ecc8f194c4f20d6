//! Which of the runtime's messages a field gets if its type turns out to be no datatype.

use proc_macro2::{Ident, Span};
use syn::{GenericArgument, PathArguments, Type, TypeArray, TypeGroup, TypeParen};

/// A guess at what is wrong with a type, from its name alone.
///
/// A wrong guess hardly ever does harm: a type of the user's own that is called `Vec` and is a datatype
/// is accepted, and one that is not would be refused in any case, in less fitting words. Where such a
/// type has a parameter that is no datatype, `bound` says what the derive should ask for instead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hint {
    None,
    /// Keeps its data on the heap.
    Heap,
    /// Can change while it is shared.
    Cell,
    /// May be uninitialised.
    Uninit,
    /// Has no defined layout.
    Option,
    /// Is another crate's own affair.
    Opaque,
}

impl Hint {
    /// The hint for a field of this type, or of arrays of it.
    pub(crate) fn of(ty: &Type) -> Self {
        match ty {
            Type::Paren(TypeParen { elem, .. })
            | Type::Group(TypeGroup { elem, .. })
            | Type::Array(TypeArray { elem, .. }) => Self::of(elem),
            Type::Path(path) => path
                .path
                .segments
                .last()
                .map_or(Self::None, |segment| Self::named(&segment.ident.to_string())),
            _ => Self::None,
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
            "Duration" | "Instant" | "IpAddr" | "Ipv4Addr" | "Ipv6Addr" | "Layout"
            | "SocketAddr" | "SocketAddrV4" | "SocketAddrV6" | "SystemTime" | "ThreadId"
            | "TypeId" => Self::Opaque,
            _ => Self::None,
        }
    }

    /// The function that turns the field's place into its map.
    pub(crate) fn function(self) -> Ident {
        let name = match self {
            Self::None => "field_map",
            Self::Heap => "field_map_heap",
            Self::Cell => "field_map_cell",
            Self::Uninit => "field_map_uninit",
            Self::Option => "field_map_option",
            Self::Opaque => "field_map_opaque",
        };
        Ident::new(name, Span::mixed_site())
    }

    /// Whether no type of such a name in the standard library is a datatype, whatever its arguments.
    pub(crate) fn is_hopeless(ty: &Type) -> bool {
        match Self::of(ty) {
            // The opaque types of the libraries have no parameters; one that mentions a parameter is
            // the author's own.
            Self::None | Self::Opaque => false,
            // `Option<T>` is a datatype for the right `T`, which `Box<_>` is not.
            Self::Option => argument(ty).is_some_and(|argument| Self::of(argument) != Self::None),
            _ => true,
        }
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
