//! The peer's side: puts and gets of records.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{Ordering, fence};

use dtype_runtime::{Committed, Datatype, Type};

use crate::allocation::{with_room, zeros};
use crate::endpoint::Endpoint;
use crate::error::{Error, check, lost};
use crate::mode::{Multi, ThreadMode};
use crate::raw::{self, RawStatus};
use crate::remote::key::MemoryKey;
use crate::remote::registered::{outside, refuse_skipped_fields};
use crate::remote::transfer::{self, Piece, Way};

/// Records in the memory of a peer, which it has [registered](crate::Context::register): from [`Endpoint::remote_memory`].
///
/// [`put`](Self::put) and [`get`](Self::get) name records by their index, [`strided`](Self::strided) any part of the memory by
/// a layout. Nothing outside the registered memory is touched.
///
/// # When the peer sees it
///
/// A put returns when the records here may be changed again. It is in the peer's memory when [`Endpoint::flush`] has returned,
/// so flush before you tell the peer, or another process, that the records are there. Puts to the same memory may arrive in any
/// order. Another access at the same time as a put of several bytes may see part of it.
///
/// Peers on the same machine access memory that UCX has allocated through a mapping ([`is_mapped`](Self::is_mapped)). Their
/// puts and gets are complete when the call returns.
///
/// # Borrows the endpoint
///
/// UCX's key belongs to the endpoint, which cannot be closed before this value is dropped:
///
/// ```compile_fail,E0505
/// # fn close(endpoint: dtype_ucx::Endpoint<dtype_ucx::Single>, key: &dtype_ucx::MemoryKey) {
/// let remote = endpoint.remote_memory::<u32>(key).unwrap();
/// endpoint.close().unwrap();
/// remote.put(0, &[7]).unwrap();
/// # }
/// ```
///
/// # Trust
///
/// UCX writes wherever the key says; see [`MemoryKey::from_bytes`]. Received records are checked like those of messages, after
/// they were copied.
#[doc(alias = "ucp_rkey_h")]
pub struct RemoteMemory<'e, T, M: ThreadMode> {
    pub(crate) endpoint: &'e Endpoint<M>,
    pub(crate) key: raw::RemoteKey,
    /// The address of the first record in the peer's memory.
    pub(crate) address: u64,
    /// The number under which the peer's worker serves the memory, if it does.
    pub(crate) served: Option<u64>,
    /// The number of records.
    len: usize,
    /// The memory, mapped into this process. Several threads must not use it at the same time.
    pub(crate) mapped: Option<NonNull<u8>>,
    pub(crate) record: Committed,
    records: PhantomData<T>,
}

// SAFETY: UCX has locks in such a worker and its keys, so that any thread may use them. Only one thread at a time uses the
// mapping, because the value is not `Sync`, and each value has a mapping of its own.
unsafe impl<T> Send for RemoteMemory<'_, T, Multi> {}

impl<M: ThreadMode> Endpoint<M> {
    /// Opens memory that the peer has registered, with its key. A type with skipped fields does not compile here.
    ///
    /// # Errors
    ///
    /// [`Error::OtherProcess`] if the key does not come from the process that the endpoint leads to; [`Error::OtherContext`] if
    /// it does not come from the [`Context`](crate::Context) of the peer's worker; [`Error::RegisteredType`] if the memory does
    /// not hold records of type `T` with the same layout as here; [`Error::Call`].
    ///
    /// ```
    /// # use dtype_ucx::{Context, Error, MemoryKey, Single};
    /// # let context = Context::with_settings([("TLS", "self")])?;
    /// # let worker = context.worker::<Single>()?;
    /// # let endpoint = worker.connect(&worker.address()?)?;
    /// // The owner.
    /// let memory = context.register(&[(0_u8, 0.0_f64); 100])?;
    /// let key: Vec<u8> = memory.key()?.to_bytes();
    ///
    /// // The peer.
    /// // SAFETY: the owner has made the key, and its memory stays.
    /// let remote = endpoint.remote_memory::<(u8, f64)>(&unsafe { MemoryKey::from_bytes(&key)? })?;
    /// remote.put(98, &[(1, 0.5), (2, 0.25)])?;
    /// endpoint.flush()?;
    /// assert_eq!(remote.get(97..99)?, [(0, 0.0), (1, 0.5)]);
    /// assert!(remote.put(99, &[(1, 0.5); 2]).is_err());
    /// assert_eq!(memory.get(99)?, (2, 0.25));
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "ucp_ep_rkey_unpack")]
    pub fn remote_memory<T: Datatype>(
        &self,
        key: &MemoryKey,
    ) -> Result<RemoteMemory<'_, T, M>, Error> {
        const { refuse_skipped_fields::<T>() }
        if key.process() != self.process() {
            return Err(Error::OtherProcess { key: key.process(), peer: self.process() });
        }
        // UCX's key has an entry for each component of the owner's context, and looks the entries up by the components that the
        // endpoint knows its peer to have. Another context has other components.
        if key.context() != self.context() {
            return Err(Error::OtherContext { memory: key.context(), worker: self.context() });
        }
        key.check_record::<T>()?;
        let mut handle = ptr::null_mut();
        let packed = key.for_ucx().as_ptr().cast();
        let open = self.open().map_err(lost)?;
        // SAFETY: the endpoint is alive, and UCX made the key (`MemoryKey`) in the context of the endpoint's peer.
        let status = unsafe { raw::ucp_ep_rkey_unpack(open.handle, packed, &raw mut handle) };
        check("ucp_ep_rkey_unpack", status)?;
        let mut pointer = ptr::null_mut();
        // SAFETY: the key was just unpacked, and the address is in the memory that it names.
        let status = unsafe { raw::ucp_rkey_ptr(handle, key.address(), &raw mut pointer) };
        // If the owner is this process, UCX may return the owner's own address. That address is refused: the compiler may
        // assume that nothing else changes memory that it knows. At any other address, the owner maps the memory elsewhere, so
        // the compiler cannot assume anything about it.
        let is_own = |at: NonNull<u8>| {
            key.process() == crate::process::id() && at.addr().get() as u64 == key.address()
        };
        let mapped =
            NonNull::new(pointer.cast()).filter(|&at| status == RawStatus::OK && !is_own(at));
        Ok(RemoteMemory {
            endpoint: self,
            key: handle,
            address: key.address(),
            served: key.served_at(self.peer()),
            len: key.len(),
            mapped,
            record: Type::of_record::<T>().commit(),
            records: PhantomData,
        })
    }
}

impl<T: Datatype, M: ThreadMode> RemoteMemory<'_, T, M> {
    /// The number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the memory is mapped into this process. If so, this engine copies puts and gets from layout to layout; otherwise
    /// UCX transports them.
    #[doc(alias = "ucp_rkey_ptr")]
    pub fn is_mapped(&self) -> bool {
        self.mapped.is_some()
    }

    /// Writes records to the memory, from index `at` on. They are in the memory when the endpoint has been
    /// [flushed](Endpoint::flush).
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if they reach outside the memory: nothing is written then. [`Error::ConnectionLost`],
    /// [`Error::Cancelled`], [`Error::Call`].
    #[doc(alias = "ucp_put_nbx")]
    pub fn put(&self, at: usize, items: &[T]) -> Result<(), Error> {
        let count = items.len();
        self.check(at, count)?;
        let from: *const u8 = items.as_ptr().cast();
        if let Some(mapped) = self.mapped {
            let to = mapped.as_ptr().wrapping_add(at * size_of::<T>());
            // SAFETY: the items are borrowed. The records are in the memory, as just checked, and its mapping lives as long as
            // the key. Only raw pointers are made; if a peer writes there at the same time, each byte is from one of the two.
            // Nothing depends on the contents.
            unsafe { self.record.copy_raw(from, to, count)? };
            fence(Ordering::Release);
            return Ok(());
        }
        if const { T::TYPE_MAP.is_packed() } {
            // SAFETY: the items are borrowed, and all of their bytes are initialised.
            return unsafe { self.records(Way::Put, at, from.cast_mut(), count) };
        }
        // One put of everything, with zeros for the padding, is faster than one put for each field.
        let mut whole = zeros(size_of_val(items))?;
        // SAFETY: the buffer has the size of the items, and nothing else uses it. The data of the items are initialised.
        unsafe {
            self.record.copy_raw(from, whole.as_mut_ptr(), count)?;
            self.records(Way::Put, at, whole.as_mut_ptr(), count)
        }
    }

    /// Reads records from the memory.
    ///
    /// # Errors
    ///
    /// [`Error::Datatype`] if the range reaches outside the memory, or the bytes of a record are not a valid value;
    /// [`Error::ConnectionLost`], [`Error::Cancelled`], [`Error::Call`].
    #[doc(alias = "ucp_get_nbx")]
    pub fn get(&self, range: Range<usize>) -> Result<Vec<T>, Error> {
        let Range { start, end } = range;
        let count = end.saturating_sub(start);
        self.check(start, count)?;
        let mut items = with_room::<T>(count)?;
        // SAFETY: the vector has room for the records, which are in the memory. If any bit pattern is valid, they are values
        // once all of their data are written: registered types have no skipped fields.
        unsafe {
            let to: *mut u8 = items.as_mut_ptr().cast();
            self.fetch(start, to, count)?;
            if const { T::TYPE_MAP.is_restricted() } {
                return Ok(dtype_runtime::unpack(&self.packed(to, count)?)?);
            }
            items.set_len(count);
        }
        Ok(items)
    }

    /// Reads records from the memory into a slice, from index `at` on: as many as the slice has.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get). If the connection is lost meanwhile, some of the records may have been read.
    pub fn get_into(&self, at: usize, items: &mut [T]) -> Result<(), Error> {
        let count = items.len();
        self.check(at, count)?;
        if const { !T::TYPE_MAP.is_restricted() } {
            // SAFETY: the records are in the memory, the slice is borrowed exclusively, and any bit pattern is valid.
            return unsafe { self.fetch(at, items.as_mut_ptr().cast(), count) };
        }
        let mut copies = with_room::<MaybeUninit<T>>(count)?;
        let private: *mut u8 = copies.as_mut_ptr().cast();
        // SAFETY: the vector has room for the records, which are in the memory.
        let packed = unsafe {
            self.fetch(at, private, count)?;
            self.packed(private, count)?
        };
        dtype_runtime::unpack_into(&packed, items)?;
        Ok(())
    }

    /// Copies the data of records from the remote memory to memory here, perhaps with their padding.
    ///
    /// # Safety
    ///
    /// The records must be in the remote memory. Here there must be room for them, and nothing else may access that room.
    unsafe fn fetch(&self, at: usize, to: *mut u8, count: usize) -> Result<(), Error> {
        let Some(mapped) = self.mapped else {
            // SAFETY: passed on to the caller.
            return unsafe { self.records(Way::Get, at, to, count) };
        };
        fence(Ordering::Acquire);
        let from = mapped.as_ptr().wrapping_add(at * size_of::<T>());
        // SAFETY: the caller guarantees both. The copy may have parts of what the peer writes at the same time, but nothing
        // depends on these bytes before they are copied.
        unsafe { self.record.copy_raw(from, to, count)? };
        Ok(())
    }

    /// The packed bytes of copied records.
    ///
    /// # Safety
    ///
    /// The data of the records must be initialised, and must not be written meanwhile.
    unsafe fn packed(&self, records: *const u8, count: usize) -> Result<Vec<u8>, Error> {
        let mut packed = zeros(self.record.packed_size(count)?)?;
        // SAFETY: passed on to the caller.
        unsafe { self.record.pack_raw(records, count, &mut packed)? };
        Ok(packed)
    }

    /// Transports records as one piece.
    ///
    /// # Safety
    ///
    /// The records must be in the remote memory. Here they must be readable and initialised, padding included, for a put, and
    /// writable for a get. Nothing else may access them.
    unsafe fn records(
        &self,
        way: Way,
        at: usize,
        here: *mut u8,
        count: usize,
    ) -> Result<(), Error> {
        let stride = size_of::<T>();
        let there = self.address + (at * stride) as u64;
        let pieces = std::iter::once(Piece { here, len: count * stride, there });
        // SAFETY: passed on to the caller.
        unsafe { transfer::pieces(way, self.endpoint, self.key, pieces) }
    }

    /// Checks that records are in the memory, and that there is a connection.
    fn check(&self, at: usize, count: usize) -> Result<(), Error> {
        if self.len.checked_sub(at).is_none_or(|room| count > room) {
            return Err(outside(size_of::<T>(), self.len, at, count).into());
        }
        self.endpoint.failure().map_or(Ok(()), Err)
    }

    /// The length of the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        // A key was checked for this (`MemoryKey::from_bytes`).
        self.len * size_of::<T>()
    }
}

impl<T, M: ThreadMode> Drop for RemoteMemory<'_, T, M> {
    fn drop(&mut self) {
        // No other thread closes the endpoint meanwhile.
        let _completing = self.endpoint.worker().completing();
        // SAFETY: the key was unpacked on the endpoint, and every put and get with it has completed. UCX documents that a key
        // is destroyed before its endpoint. After a close by force that is too late, and before it too early, because
        // operations may still use the key. But `ucp_rkey_destroy`, in UCX 1.13 and later, touches the key and its worker,
        // which is alive, and not the endpoint.
        unsafe { raw::ucp_rkey_destroy(self.key) };
    }
}

impl<T, M: ThreadMode> fmt::Debug for RemoteMemory<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mapped = self.mapped.is_some();
        f.debug_struct("RemoteMemory")
            .field("len", &self.len)
            .field("mapped", &mapped)
            .finish_non_exhaustive()
    }
}
