//! Strings and lists of bounded length as datatypes of fixed size.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt::{self, Write};
use core::hash::{Hash, Hasher};
use core::mem::{MaybeUninit, offset_of};
use core::ops::{Deref, DerefMut};
use core::slice;
use core::str::{self, FromStr};

use super::content::{is_clean_text, is_spare_zero, split};
use crate::datatype::Datatype;
use crate::error::Error;
use crate::typed::{are_clean, clean, find_in, without_dot};
use crate::typemap::{Content, Field, Markers, Meaning, TypeMap};

/// A string of at most `N` bytes of UTF-8, as a datatype of fixed size: the length as a `u32`, and `N` bytes.
///
/// The bytes after the string are zeros. Unpacking checks the length and that the string is UTF-8, and writes zeros after the
/// string, whatever bytes are packed there; [`view`](crate::view) leaves these bytes as they are. It derefs to `str`.
///
/// ```
/// use dtype_runtime::{FixedStr, pack, unpack};
///
/// let name: FixedStr<8> = "Aïda".parse()?;
/// assert_eq!(name.len(), 5);
/// let bytes = pack(&[name]);
/// assert_eq!(bytes.len(), 4 + 8);
/// assert_eq!(unpack::<FixedStr<8>>(&bytes)?[0], "Aïda");
/// assert!("Iphigénie".parse::<FixedStr<8>>().is_err());
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FixedStr<const N: usize> {
    /// The length in bytes: at most `N`, and at the end of a character.
    len: u32,
    /// The contents: the first `len` bytes are UTF-8, the others zeros.
    bytes: [u8; N],
}

// SAFETY: the offsets come from the compiler, and the two fields are all that there is. Any bytes make a `u32`
// and an array of `u8`; that `len` is in range and the bytes before it are UTF-8 is what the check establishes.
#[diagnostic::do_not_recommend]
unsafe impl<const N: usize> Datatype for FixedStr<N> {
    const TYPE_MAP: &'static TypeMap = &TypeMap::structure::<Self>(
        "FixedStr",
        const {
            &[
                Field::new("len", offset_of!(Self, len), <u32 as Datatype>::TYPE_MAP),
                Field::new("bytes", offset_of!(Self, bytes), <[u8; N]>::TYPE_MAP),
            ]
        },
        Markers::NONE,
    )
    .holding(Content {
        is_clean: |bytes| split(bytes).is_some_and(|(len, text)| is_clean_text::<N>(text, len)),
        check: |bytes, path| {
            let text = used(bytes, 1, N).map(|(_, text)| str::from_utf8(text));
            let reason = match text {
                Ok(Ok(_)) => return Ok(()),
                Ok(Err(error)) => format!("{error}"),
                Err(reason) => reason,
            };
            Err(refused("FixedStr", path, reason))
        },
        clean: |bytes| {
            let end = used(bytes, 1, N).map_or(0, |(_, text)| size_of::<u32>() + text.len());
            bytes[end..].fill(0);
        },
    })
    .meaning_of(Meaning::Text);
}

/// The length that is stored before `capacity` items of `size` packed bytes, and the bytes of the items in use.
///
/// The bytes alone do not tell the length if items have no data.
fn used(bytes: &[u8], size: usize, capacity: usize) -> Result<(usize, &[u8]), String> {
    let (len, items) = split(bytes).ok_or_else(|| "no length".to_owned())?;
    if len > capacity {
        return Err(format!("the length is {len}, and the capacity {capacity}"));
    }
    // No overflow: there are `capacity` items in memory.
    match items.get(..len * size) {
        Some(used) => Ok((len, used)),
        None => Err("the bytes are not one record".to_owned()),
    }
}

/// The error for a value at a path, as [`find_in`] has it.
fn refused(of: &str, path: &str, reason: String) -> Error {
    Error::CheckFailed { record: 0, path: without_dot(path), of: of.to_owned(), reason }
}

/// The length as it is stored, if that number of items fits.
fn stored(len: usize, capacity: usize) -> Result<u32, Error> {
    match u32::try_from(len) {
        Ok(stored) if len <= capacity => Ok(stored),
        _ => Err(Error::Capacity { len, capacity }),
    }
}

impl<const N: usize> FixedStr<N> {
    /// The empty string.
    pub const EMPTY: Self = Self { len: 0, bytes: [0; N] };

    /// A string with the contents of `text`.
    ///
    /// # Errors
    ///
    /// [`Error::Capacity`] if `text` has more than `N` bytes.
    pub fn new(text: &str) -> Result<Self, Error> {
        let mut string = Self { len: stored(text.len(), N)?, bytes: [0; N] };
        string.bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(string)
    }

    /// The string.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len as usize).unwrap_or_default();
        // SAFETY: the bytes as far as `len` are UTF-8, as the field says: `new` copies them from a `str`, and
        // unpacking checks them. Nothing else writes the two fields.
        unsafe { str::from_utf8_unchecked(bytes) }
    }
}

impl<const N: usize> Deref for FixedStr<N> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> AsRef<str> for FixedStr<N> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl<const N: usize> Borrow<str> for FixedStr<N> {
    fn borrow(&self) -> &str {
        self
    }
}

impl<const N: usize> TryFrom<&str> for FixedStr<N> {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl<const N: usize> FromStr for FixedStr<N> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl<const N: usize> Default for FixedStr<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> fmt::Debug for FixedStr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for FixedStr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl<const N: usize> PartialEq for FixedStr<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl<const N: usize> Eq for FixedStr<N> {}

impl<const N: usize> PartialEq<str> for FixedStr<N> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl<const N: usize> PartialEq<&str> for FixedStr<N> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl<const N: usize> PartialOrd for FixedStr<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for FixedStr<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl<const N: usize> Hash for FixedStr<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// A list of at most `N` values, as a datatype of fixed size: the length as a `u32`, and room for `N` values.
///
/// The whole capacity is packed, with zeros where nothing has been stored. Unpacking checks the length, and the values
/// in use. It derefs to a slice.
///
/// ```
/// use dtype_runtime::{FixedVec, pack, unpack};
///
/// let mut list = FixedVec::<bool, 4>::default();
/// list.push(true)?;
/// list.push(false)?;
/// let mut bytes = pack(&[list]);
/// assert_eq!(bytes.len(), 4 + 4);
/// assert_eq!(*unpack::<FixedVec<bool, 4>>(&bytes)?[0], [true, false]);
///
/// bytes[5] = 7;
/// let error = unpack::<FixedVec<bool, 4>>(&bytes).unwrap_err();
/// assert_eq!(error.to_string(), "record 0, field items[1]: 0x7 is not a valid bool");
/// # Ok::<(), dtype_runtime::Error>(())
/// ```
///
/// A type that skips fields does not compile here, because spare capacity has no such fields.
///
/// The fixed-capacity vectors of the crates `arrayvec` and `heapless` are not datatypes. They leave spare capacity
/// uninitialised, and packing must not read such bytes; nor do they guarantee a layout. To send one, copy its slice
/// with [`from_slice`](Self::from_slice); to get it back, collect it from the slice here.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FixedVec<T: Copy, const N: usize> {
    /// At most `N`.
    len: u32,
    /// The items: the first `len` are values. Of the others, all data bytes are zeros.
    items: [MaybeUninit<T>; N],
}

// SAFETY: the offsets come from the compiler, and there are two fields. The bytes of `items` that the map of `T`
// names are initialised in every `FixedVec`: they are zeros, or were written with a `T`, or by unpacking. Any bytes
// make a `u32` and an array of `MaybeUninit`, so the leaves need no validity; that `len` is in range and the items
// before it are values is what the check establishes, and a type that skips fields, which the check cannot see,
// does not compile.
#[diagnostic::do_not_recommend]
unsafe impl<T: Datatype + Copy, const N: usize> Datatype for FixedVec<T, N> {
    const TYPE_MAP: &'static TypeMap = {
        assert!(!T::TYPE_MAP.skips_fields(), "a type that skips fields cannot be in a `FixedVec`");
        assert!(T::TYPE_MAP.stride() == size_of::<T>());
        &TypeMap::structure::<Self>(
            "FixedVec",
            const {
                &[
                    Field::new("len", offset_of!(Self, len), <u32 as Datatype>::TYPE_MAP),
                    Field::new(
                        "items",
                        offset_of!(Self, items),
                        const { &<[T; N]>::TYPE_MAP.unrestricted() },
                    ),
                ]
            },
            Markers::NONE,
        )
        .holding(Content {
            is_clean: |bytes| match split(bytes) {
                // No overflow: there are `N` items in memory.
                Some((len, items)) if len <= N && items.len() == N * T::TYPE_MAP.size() => {
                    let used = len * T::TYPE_MAP.size();
                    is_spare_zero(items, used) & are_clean::<T>(&items[..used], len)
                }
                _ => false,
            },
            check: |bytes, path| {
                let size = T::TYPE_MAP.size();
                let (len, items) =
                    used(bytes, size, N).map_err(|reason| refused("FixedVec", path, reason))?;
                // Items without data are all the same.
                let (len, before) = (if size == 0 { len.min(1) } else { len }, path.len());
                for index in 0..len {
                    // Writing to a string does not fail.
                    let _ = write!(path, ".items[{index}]");
                    find_in(T::TYPE_MAP, &items[index * size..(index + 1) * size], path)?;
                    path.truncate(before);
                }
                Ok(())
            },
            clean: |bytes| {
                let size = T::TYPE_MAP.size();
                let used = used(bytes, size, N).map_or(0, |(_, items)| items.len());
                let (used, spare) = bytes[size_of::<u32>()..].split_at_mut(used);
                if size > 0 {
                    used.chunks_exact_mut(size).for_each(|item| clean(T::TYPE_MAP, item));
                }
                spare.fill(0);
            },
        })
        .meaning_of(Meaning::List)
    };
}

impl<T: Copy, const N: usize> FixedVec<T, N> {
    /// A list without items.
    pub const fn new() -> Self {
        Self { len: 0, items: [MaybeUninit::zeroed(); N] }
    }

    /// A list with the items of a slice.
    ///
    /// # Errors
    ///
    /// [`Error::Capacity`] if there are more than `N`.
    pub fn from_slice(items: &[T]) -> Result<Self, Error> {
        let len = stored(items.len(), N)?;
        let mut list = Self::new();
        for (slot, item) in list.items.iter_mut().zip(items) {
            slot.write(*item);
        }
        list.len = len;
        Ok(list)
    }

    /// Appends an item.
    ///
    /// # Errors
    ///
    /// [`Error::Capacity`] if there are `N` items already.
    pub fn push(&mut self, item: T) -> Result<(), Error> {
        let len = stored(self.len().saturating_add(1), N)?;
        if let Some(slot) = self.items.get_mut(self.len as usize) {
            slot.write(item);
            self.len = len;
        }
        Ok(())
    }

    /// Removes the last item and returns it, or `None` if there is none.
    pub fn pop(&mut self) -> Option<T> {
        let last = *self.last()?;
        self.len -= 1;
        // So that packing does not send the item.
        self.items[self.len as usize] = MaybeUninit::zeroed();
        Some(last)
    }

    /// Removes all items.
    pub const fn clear(&mut self) {
        // Without the items, so that packing does not send them.
        *self = Self::new();
    }

    /// The items.
    pub fn as_slice(&self) -> &[T] {
        let used = self.items.get(..self.len as usize).unwrap_or_default();
        // SAFETY: the items before `len` are values, as the field says: each was written with a `T`, or checked
        // by unpacking. `MaybeUninit<T>` has the layout of `T`.
        unsafe { slice::from_raw_parts(used.as_ptr().cast(), used.len()) }
    }

    /// The items, to change them.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let used = self.items.get_mut(..self.len as usize).unwrap_or_default();
        // SAFETY: as in `as_slice`, and the list is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(used.as_mut_ptr().cast(), used.len()) }
    }
}

impl<T: Copy, const N: usize> Deref for FixedVec<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Copy, const N: usize> DerefMut for FixedVec<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

impl<T: Copy, const N: usize> TryFrom<&[T]> for FixedVec<T, N> {
    type Error = Error;

    fn try_from(items: &[T]) -> Result<Self, Error> {
        Self::from_slice(items)
    }
}

impl<T: Copy, const N: usize> Default for FixedVec<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T: Copy, const N: usize> IntoIterator for &'a FixedVec<T, N> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<T: Copy + fmt::Debug, const N: usize> fmt::Debug for FixedVec<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl<T: Copy + PartialEq, const N: usize> PartialEq for FixedVec<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Copy + Eq, const N: usize> Eq for FixedVec<T, N> {}

impl<T: Copy + Hash, const N: usize> Hash for FixedVec<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}
