//! The datatypes of Rust types, made and committed once.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use dtype_runtime::typemap::{Node, TypeMap};
use dtype_runtime::{Basic, Type};
use mpi::datatype::DatatypeRef;
use mpi::ffi;
use mpi::raw::FromRaw;

use crate::agreement;
use crate::error::Error;
use crate::handle::Handle;
use crate::raw::collective::Block;
use crate::raw::{Datatype, Session, attributes};

/// A datatype that lives until MPI is finalized.
#[derive(Clone, Copy)]
struct Shared {
    handle: Handle,
    /// Whether to free the datatype. Predefined datatypes must not be freed.
    owned: bool,
}

/// Properties of the elements of a Rust type other than their data. The [`mpi`] crate takes memory for elements of
/// any Rust type whose [`Equivalence`](mpi::traits::Equivalence) has the datatype's handle, and compares nothing else.
/// Types that differ in these properties must therefore have different handles.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Elements {
    /// Alignment of the elements in bytes.
    align: usize,
    /// Whether some of their bytes are neither data nor padding.
    skip_fields: bool,
}

#[derive(Default)]
struct Cache {
    /// Keyed by the address of the constant type map and the alignment. An address belongs to one type map, which
    /// determines the rest. A type may have several addresses, in different parts of a program.
    by_map: HashMap<(usize, usize), Shared>,
    /// Keyed by the types themselves, so that equal types share a datatype.
    by_type: HashMap<(Type, Elements), Shared>,
    /// Whether [`free_all`] is registered with the library.
    ends: bool,
}

static CACHE: RwLock<Option<Cache>> = RwLock::new(None);

impl Datatype {
    /// The committed datatype of the elements of a `[T]`. The first call on any thread makes it, and later calls look it up in
    /// a table. It is freed when MPI is finalized.
    ///
    /// It names the data of a `T` as [`Type::of`] does, with the lower bound 0 and the extent `size_of::<T>()`, as
    /// in a slice, whatever the attributes of the struct say. A type with generic or lifetime parameters has one
    /// datatype per set of arguments. Types of the same layout and alignment share one, if neither or both skip
    /// fields. For numbers that are aligned as the library aligns them, it is a predefined datatype.
    ///
    /// # Errors
    ///
    /// [`Error::NotRunning`]; [`Error::Thread`] if the datatype was not made before; otherwise as [`new`](Self::new), and
    /// [`Error::Bounds`] if the library computes another layout for the datatype.
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
        // SAFETY: the handle lives until MPI is finalized, and after that no call can be made with any handle.
        Ok(unsafe { DatatypeRef::from_raw(shared.handle.0) })
    }
}

/// The datatype of `size` bytes (at least one), for packed elements.
pub(crate) fn block(size: usize) -> Result<Block, Error> {
    let bytes = Elements { align: 1, skip_fields: false };
    let shared = shared(None, bytes, || Type::contiguous(size as u64, &Type::basic(Basic::Byte)))?;
    Ok(Block { handle: shared.handle.0, size })
}

/// The type of the elements of a slice. Every structure in it has explicit bounds, so that a library's own
/// alignment rules cannot change the layout.
fn elements(map: &'static TypeMap) -> Result<Type, dtype_runtime::Error> {
    let signed = |bytes: usize| (bytes as u64).cast_signed();
    match *map.node() {
        Node::Basic { basic, .. } => Ok(Type::basic(basic)),
        Node::Array { count, element } => Type::contiguous(count as u64, &elements(element)?),
        Node::Structure { fields, .. } => {
            let mut displacements = Vec::new();
            let mut types = Vec::new();
            for field in fields {
                // A field without data does not belong to the elements, and some libraries cannot copy a struct with such a
                // field.
                let Some(map) = field.map().filter(|map| map.size() > 0) else { continue };
                displacements.push(signed(field.offset()));
                types.push(elements(map)?);
            }
            let structure = Type::structure(&vec![1; types.len()], &displacements, &types)?;
            Type::resized(&structure, 0, signed(map.stride()))
        }
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
    // While the lock is held, no other thread makes a datatype.
    let mut cache = CACHE.write().unwrap_or_else(PoisonError::into_inner);
    let cache = cache.get_or_insert_default();
    let shared = if let Some(shared) = cache.by_type.get(&key) {
        *shared
    } else {
        let (ty, Elements { align, skip_fields }) = &key;
        let _session = Session::begin("MPI_Type_commit")?;
        let (mut datatype, mut agreement) = Datatype::compared(ty)?;
        if datatype.is_predefined() && (*skip_fields || *align as u64 != ty.align()) {
            (datatype, agreement) = Datatype::compared(&Type::dup(ty)?)?;
        }
        agreement::bounds(ty, &datatype)?;
        if ty.size() > 0 {
            agreement.check()?;
        }
        if !cache.ends {
            attributes::at_finalize(free_all)?;
            cache.ends = true;
        }
        let (handle, owned) = datatype.into_handle();
        let shared = Shared { handle: Handle(handle), owned };
        cache.by_type.insert(key, shared);
        shared
    };
    if let Some(place) = place {
        cache.by_map.insert(place, shared);
    }
    Ok(shared)
}

/// Frees all datatypes; the library calls it when MPI is finalized.
fn free_all() {
    let cache = CACHE.write().unwrap_or_else(PoisonError::into_inner).take();
    for shared in cache.into_iter().flat_map(|cache| cache.by_type.into_values()) {
        if shared.owned {
            let Handle(mut handle) = shared.handle;
            // SAFETY: MPI is about to end and can still be called; the handle was made here and has been removed
            // from the table.
            unsafe { ffi::MPI_Type_free(&raw mut handle) };
        }
    }
}
