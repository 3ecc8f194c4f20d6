//! Keys of registered memory, as bytes that any channel can carry.

use std::fmt;

use dtype_runtime::{Datatype, Type};

use crate::address::checksum;
use crate::error::Error;

/// What a peer needs to access [`Registered`](crate::Registered) memory: where it is, how many records it has, their type,
/// and UCX's key.
///
/// A program that has the key can write any bytes to the memory, so give it only to programs that you trust as much as your
/// own. UCX writes wherever a key says: a crafted key makes it overwrite memory that was never registered. So
/// [`from_bytes`](Self::from_bytes) is unsafe, as for a [`WorkerAddress`](crate::WorkerAddress::from_bytes). A checksum detects
/// accidental damage.
///
/// ```
/// # use dtype_ucx::{Context, Error, MemoryKey, Single};
/// # let context = Context::with_settings([("TLS", "self")])?;
/// let memory = context.register(&[0_u32; 100])?;
/// let mut bytes = memory.key()?.to_bytes();
/// // SAFETY: the bytes come from `to_bytes`, and the memory stays.
/// let key = unsafe { MemoryKey::from_bytes(&bytes)? };
/// assert_eq!((key.len(), key.record()), (100, &dtype_runtime::Type::of::<u32>()));
/// bytes[50] ^= 1;
/// // SAFETY: they are damaged by accident, which the checksum finds.
/// assert!(unsafe { MemoryKey::from_bytes(&bytes) }.is_err());
/// # Ok::<(), Error>(())
/// ```
///
/// A program without `unsafe` cannot make a key from bytes:
///
/// ```compile_fail,E0133
/// let forged = dtype_ucx::MemoryKey::from_bytes(b"dtypeKEY");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
#[doc(alias = "ucp_rkey_pack")]
pub struct MemoryKey {
    /// The process that has the memory ([`process::id`](crate::process::id)).
    process: u64,
    /// The context of that process in which the memory is registered.
    context: u64,
    /// The address of the first record in that process.
    address: u64,
    /// The number of records.
    len: usize,
    /// The worker that serves the memory, and the number of the memory there; zeros if none does.
    served: [u64; 2],
    /// The type of a record; its extent is the distance between neighbours.
    record: Type,
    /// UCX's key.
    packed: Box<[u8]>,
}

const MAGIC: [u8; 8] = *b"dtypeKEY";
/// The number that a machine of the same byte order reads.
const ORDER: u32 = 0x0102_0304;

impl MemoryKey {
    /// A key of this process's memory, with UCX's bytes.
    pub(crate) fn new(context: u64, record: Type, address: u64, len: usize, packed: &[u8]) -> Self {
        let (process, served, packed) = (crate::process::id(), [0; 2], packed.into());
        Self { process, context, address, len, served, record, packed }
    }

    /// Marks the key as one of memory that this worker serves under this number.
    pub(crate) fn served_by(self, worker: u64, memory: u64) -> Self {
        Self { served: [worker, memory], ..self }
    }

    /// The number of the memory at this worker, if the worker serves it.
    pub(crate) fn served_at(&self, worker: u64) -> Option<u64> {
        let [server, memory] = self.served;
        (server != 0 && server == worker).then_some(memory)
    }

    /// The number of records in the memory.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the memory has no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The type of a record. The distance between neighbours is its extent.
    pub fn record(&self) -> &Type {
        &self.record
    }

    pub(crate) fn process(&self) -> u64 {
        self.process
    }

    /// The number of the context that the memory is registered with.
    pub(crate) fn context(&self) -> u64 {
        self.context
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// UCX's key, as UCX returned it.
    pub(crate) fn for_ucx(&self) -> &[u8] {
        &self.packed
    }

    /// Checks that the memory holds records of type `T`, with the same layout.
    pub(crate) fn check_record<T: Datatype>(&self) -> Result<(), Error> {
        let (found, expected) = (&self.record, Type::of_record::<T>());
        let summary = |ty: &Type| (ty.size(), ty.elements(), ty.lb(), ty.extent());
        let same = summary(found) == summary(&expected)
            && found.signature_hash() == expected.signature_hash()
            // Types with one layout may have been made by different calls.
            && (*found == expected || found.type_map().eq(expected.type_map()));
        if same {
            return Ok(());
        }
        let name = std::any::type_name::<T>();
        Err(Error::RegisteredType {
            expected: format!("{name}: {}", describe(&expected)),
            found: describe(found),
        })
    }

    /// The key as bytes: about a hundred or more, depending on the type of the records.
    pub fn to_bytes(&self) -> Vec<u8> {
        let record = self.record.marshal();
        let mut body = Vec::with_capacity(60 + record.len() + self.packed.len());
        body.extend(ORDER.to_ne_bytes());
        let [worker, memory] = self.served;
        let len = self.len as u64;
        let memory = [self.process, self.context, self.address, len, worker, memory];
        for number in memory.into_iter().chain([record.len() as u64]) {
            body.extend(number.to_ne_bytes());
        }
        body.extend(record);
        body.extend_from_slice(&self.packed);
        [&MAGIC[..], &checksum(&body).to_le_bytes(), &body].concat()
    }

    /// The key in bytes that [`to_bytes`](Self::to_bytes) returned.
    ///
    /// # Errors
    ///
    /// [`Error::Key`] if the bytes are damaged, or are not a key, or come from a machine of another byte order;
    /// [`Error::Datatype`] if the type of the records is damaged.
    ///
    /// # Safety
    ///
    /// If the bytes are accepted, they must be unchanged bytes that `to_bytes` returned in a process of the same job. They must
    /// arrive by a channel on which nothing else can write, as for
    /// [`WorkerAddress::from_bytes`](crate::WorkerAddress::from_bytes). Crafted bytes are accepted, too.
    ///
    /// The owner may have dropped the memory. Code that [unregisters](crate::Registered::unregister) the memory guarantees that
    /// no key of it is used any more.
    pub unsafe fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let refused = |what| Error::Key { len: bytes.len(), what };
        let short = || refused("they end too early");
        let (magic, rest) = bytes.split_first_chunk().ok_or_else(short)?;
        if *magic != MAGIC {
            return Err(refused("they do not start with `dtypeKEY`"));
        }
        let (sum, body) = rest.split_first_chunk().ok_or_else(short)?;
        if *sum != checksum(body).to_le_bytes() {
            return Err(refused("the checksum is wrong"));
        }
        let (order, mut rest) = body.split_first_chunk().ok_or_else(short)?;
        if u32::from_ne_bytes(*order) != ORDER {
            return Err(refused("they come from a machine of another byte order"));
        }
        let mut number = || {
            let (number, after) = rest.split_first_chunk().ok_or_else(short)?;
            rest = after;
            Ok::<_, Error>(u64::from_ne_bytes(*number))
        };
        let [process, context] = [number()?, number()?];
        let [address, len] = [number()?, number()?];
        let [worker, memory, record] = [number()?, number()?, number()?];
        let record = usize::try_from(record).map_err(|_| short())?;
        let (record, packed) = rest.split_at_checked(record).ok_or_else(short)?;
        let record = Type::unmarshal(record)?;
        if packed.is_empty() {
            return Err(short());
        }
        // The displacement of every byte of the memory must be valid here, too.
        let bytes_long = i128::from(record.extent()) * i128::from(len);
        let fits = (0..=isize::MAX as i128).contains(&bytes_long)
            && i128::from(address) + bytes_long <= i128::from(u64::MAX);
        match usize::try_from(len) {
            Ok(len) if fits && record.extent() >= 0 => {
                let (served, packed) = ([worker, memory], packed.into());
                Ok(Self { process, context, address, len, served, record, packed })
            }
            _ => Err(refused("the memory is larger than an address space")),
        }
    }
}

impl fmt::Debug for MemoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryKey")
            .field("process", &self.process)
            .field("len", &self.len)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

/// The type of records, for errors.
fn describe(ty: &Type) -> String {
    /// The greatest number of basic datatypes to list.
    const LISTED: usize = 8;
    let mut text = format!("records of {} bytes with", ty.extent());
    for (index, entry) in ty.type_map().take(LISTED).enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let (name, displacement) = (entry.basic.name(), entry.displacement);
        text = format!("{text}{comma} {name} at {displacement}");
    }
    match ty.elements() {
        0 => text + " no data",
        more if more > LISTED as u64 => text + &format!(" and {} more", more - LISTED as u64),
        _ => text,
    }
}
