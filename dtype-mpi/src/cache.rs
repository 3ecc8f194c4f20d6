//! The datatypes of Rust types, made and committed once.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Basic, Type};
use mpi::datatype::DatatypeRef;
use mpi::ffi::{self, MPI_Datatype};
use mpi::raw::FromRaw;

use crate::error::Error;
use crate::raw::collective::Block;
use crate::raw::{Datatype, Session, attributes};

/// A datatype that lives until MPI is finalized.
#[derive(Clone, Copy)]
struct Shared {
    handle: MPI_Datatype,
    /// Predefined ones are not to be freed.
    owned: bool,
}

// SAFETY: a handle is an address or an integer, and means the same to every thread. Calls with it are made by
// those only that may call MPI.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// What the elements of a Rust type are beside their data. The [`mpi`] crate takes memory for elements of any Rust
/// type that has the datatype's handle, and compares nothing else: so types that differ in this have different
/// handles.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Elements {
    /// Bytes that their addresses are multiples of.
    align: usize,
    /// Whether some of their bytes are neither data nor padding. No [`Element`](crate::Element) is of such a type,
    /// so that its handle is none of an element's.
    skip_fields: bool,
}

#[derive(Default)]
struct Cache {
    /// By the address of the constant type map, and the alignment: one address has one type map, which decides on
    /// the rest. A type may have several, in different parts of a program.
    by_map: HashMap<(usize, usize), Shared>,
    /// By what the types are, so that those become one.
    by_type: HashMap<(Type, Elements), Shared>,
    /// Whether the library knows what to call when MPI ends.
    ends: bool,
}

static CACHE: RwLock<Option<Cache>> = RwLock::new(None);

impl Datatype {
    /// The datatype of the elements of a `[T]`, committed: made when it is first asked for, by whichever thread,
    /// and freed when MPI is finalized. Asking again takes a look into a table.
    ///
    /// It names the data of a `T` as [`Type::of`] does, with the lower bound 0 and the extent `size_of::<T>()`
    /// whatever the attributes of the struct say: as in a slice. Generic types and types with references'
    /// lifetimes have one for each set of arguments. Types of the same layout and alignment share one, if neither
    /// or both skip fields. It is a predefined datatype for numbers that are aligned as the library aligns them.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`]; [`Error::Thread`] where it was not made before; otherwise as
    /// [`new`](Self::new), and [`Error::Bounds`] where the library lays out the datatype in another way.
    ///
    /// ```
    /// use dtype_mpi::Datatype;
    /// use mpi::raw::AsRaw;
    ///
    /// let universe = mpi::initialize().expect("MPI runs once");
    /// let first = Datatype::of::<(f64, u8)>()?;
    /// assert!(Datatype::of::<(f64, u8)>()?.as_raw() == first.as_raw());
    /// # drop(universe);
    /// # Ok::<(), dtype_mpi::Error>(())
    /// ```
    pub fn of<T: dtype_runtime::Datatype>() -> Result<DatatypeRef<'static>, Error> {
        let map = T::TYPE_MAP;
        let like = Elements { align: align_of::<T>(), skip_fields: map.skips_fields() };
        let shared = shared(Some(map), like, || elements(map))?;
        // SAFETY: the handle lives until MPI is finalized, after which nothing can be done with any.
        Ok(unsafe { DatatypeRef::from_raw(shared.handle) })
    }
}

/// The datatype of `size` bytes, at least one, for packed elements.
pub(crate) fn block(size: usize) -> Result<Block, Error> {
    let bytes = Elements { align: 1, skip_fields: false };
    let shared = shared(None, bytes, || Type::contiguous(size as u64, &Type::basic(Basic::Byte)))?;
    Ok(Block { handle: shared.handle, size })
}

/// The type of the elements of a slice. Every structure in it has its bounds set, so that no library's own rules
/// about alignment move what is built from it.
fn elements(map: &'static TypeMap) -> Result<Type, dtype_runtime::Error> {
    let signed = |bytes: usize| (bytes as u64).cast_signed();
    match *map.node() {
        Node::Basic { basic, .. } => Ok(Type::basic(basic)),
        Node::Array { count, element } => Type::contiguous(count as u64, &elements(element)?),
        Node::Structure { fields, .. } => {
            let mut displacements = Vec::new();
            let mut types = Vec::new();
            for field in fields {
                let Some(map) = field.map() else { continue };
                displacements.push(signed(field.offset()));
                types.push(elements(map)?);
            }
            let structure = Type::structure(&vec![1; types.len()], &displacements, &types)?;
            Type::resized(&structure, 0, signed(map.stride()))
        }
        _ => unreachable!("type maps have no other nodes"),
    }
}

fn shared(
    map: Option<&'static TypeMap>,
    like: Elements,
    ty: impl FnOnce() -> Result<Type, dtype_runtime::Error>,
) -> Result<Shared, Error> {
    let place = map.map(|map| (std::ptr::from_ref(map).addr(), like.align));
    if let Some(place) = place {
        let cache = CACHE.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = cache.as_ref().and_then(|cache| cache.by_map.get(&place)) {
            return Ok(*shared);
        }
    }
    let key = (ty()?, like);
    // Nobody else makes one meanwhile.
    let mut cache = CACHE.write().unwrap_or_else(PoisonError::into_inner);
    let cache = cache.get_or_insert_default();
    let shared = if let Some(shared) = cache.by_type.get(&key) {
        *shared
    } else {
        let (ty, Elements { align, skip_fields }) = &key;
        let mut datatype = Datatype::new(ty)?;
        if datatype.is_predefined() && (*skip_fields || *align as u64 != ty.align()) {
            datatype = Datatype::new(&Type::dup(ty)?)?;
        }
        datatype.check_bounds(ty)?;
        if !cache.ends {
            let _session = Session::begin("MPI_Comm_create_keyval")?;
            attributes::at_finalize(free_all)?;
            cache.ends = true;
        }
        let (handle, owned) = datatype.into_handle();
        let shared = Shared { handle, owned };
        cache.by_type.insert(key, shared);
        shared
    };
    if let Some(place) = place {
        cache.by_map.insert(place, shared);
    }
    Ok(shared)
}

/// What the library calls when MPI is finalized.
fn free_all() {
    let cache = CACHE.write().unwrap_or_else(PoisonError::into_inner).take();
    for shared in cache.into_iter().flat_map(|cache| cache.by_type.into_values()) {
        if shared.owned {
            let mut handle = shared.handle;
            // SAFETY: MPI is about to end and can still be called; the handle was made here, and is gone from
            // the table.
            unsafe { ffi::MPI_Type_free(&raw mut handle) };
        }
    }
}

impl Datatype {
    /// Whether the library accesses the memory that the type says.
    pub(crate) fn check_bounds(&self, ty: &Type) -> Result<(), Error> {
        let check = |quantity, here: i64, library: i64| {
            if here == library { Ok(()) } else { Err(Error::Bounds { quantity, here, library }) }
        };
        check("size", ty.size().cast_signed(), self.size()?)?;
        let (lb, extent) = self.extent()?;
        check("lower bound", ty.lb(), lb)?;
        check("extent", ty.extent(), extent)?;
        // Where there are no data, libraries disagree about where they are not.
        if ty.size() > 0 {
            let (true_lb, true_extent) = self.true_extent()?;
            check("true lower bound", ty.true_lb(), true_lb)?;
            check("true extent", ty.true_extent(), true_extent)?;
        }
        Ok(())
    }
}
