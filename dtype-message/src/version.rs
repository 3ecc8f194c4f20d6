//! Reads the records of another version, whose protocol is known: by the names of their fields.
//!
//! ```text
//! layout      the layout of packed records, from the text of a schema
//! ```
//!
//! The sender's packed records become packed records of this side's type before anything else sees them, by
//! [`Fit`](dtype_stored::Fit), as the items of a file do.

mod layout;

use core::fmt;

use dtype_runtime::representation::ByteOrder;
use dtype_runtime::{Type, TypeMap};
use dtype_stored::{Access, Fit, Misfit, ReadOptions, Scratch, ValueError};

use self::layout::Layout;
use crate::CHUNK;
use crate::assemble::Splitter;
use crate::compare::shown;
use crate::error::Error;
use crate::header::Header;
use crate::messages::{Maps, Messages};
use crate::protocol::{Kind, Protocol};

/// How many kinds of a sender are kept ready besides those that this side knows.
const FEW: usize = 16;

/// What differs between the versions of the two sides, and what has been prepared for it.
pub(crate) struct Version {
    own: Protocol,
    sender: Protocol,
    maps: Maps,
    /// The kinds that have been received so far: the tag here and the sender's, which differ if a side has a single kind, and
    /// the byte order.
    ready: Vec<(Key, Result<Conversion, String>)>,
    scratch: Scratch,
    // Pointers, so that a program which reads one version does not contain the engine for types made at run time.
    prepare: Prepare,
    repack: Repack,
}

type Key = (u32, u32, ByteOrder);

/// How the messages of a kind are converted.
struct Conversion {
    head: Option<Part>,
    records: Part,
    /// The hash of the sender's signature, of head and records.
    signature: u64,
}

/// The sender's records, or its head, as those of this side.
struct Part {
    fit: Fit<()>,
    /// Bytes of a packed record here.
    size: usize,
    signature: u64,
}

type Prepare = fn(&Kind<'_>, Option<&TypeMap>, &TypeMap, ByteOrder) -> Result<Conversion, String>;

type Repack =
    for<'a> fn(&Fit<()>, &'a [u8], usize, &'a mut Scratch) -> Result<&'a [u8], ValueError>;

impl Part {
    fn new(schema: &str, map: &TypeMap, order: ByteOrder) -> Result<Self, String> {
        let layout = Layout::of_schema(schema, order);
        let layout = layout.ok_or("its schema is too long, or not that of a type")?;
        let options = ReadOptions::strict().with_other_fields().with_defaults();
        let options = options.with_number_conversion();
        let fit = Fit::of_map(map, &layout, Access::Read, options, Some(order)).map_err(reason)?;
        let ty: Type = layout.ty().ok_or("its type is too large")?;
        let fit = fit.without_left_out();
        Ok(Self { fit, size: map.size(), signature: ty.signature_hash() })
    }
}

/// A message of another version whose payload is arriving.
#[derive(Debug, Default)]
pub(crate) struct Converting {
    /// Index of the conversion.
    index: usize,
    /// Bytes of the head that have not arrived.
    missing: usize,
    head: Splitter,
    records: Splitter,
    /// The number of records that have been converted.
    count: usize,
    /// The first error of a value. If the checksum is wrong, too, the cause was damage.
    pub(crate) wrong: Option<Error>,
}

impl Version {
    /// `None` if both sides have one version.
    pub(crate) fn new<M: Messages>(sender: Protocol) -> Option<Box<Self>> {
        let own = Protocol::of::<M>();
        let mut maps = Maps::new();
        M::maps(0, &mut maps);
        let ready = Vec::new();
        (own != sender).then(|| {
            Box::new(Self {
                own,
                sender,
                maps,
                ready,
                scratch: Scratch::default(),
                prepare: Conversion::new,
                repack: Fit::repack,
            })
        })
    }

    /// Begins a message with this header, and returns the header of the message that it becomes. `None` if the message is not
    /// converted: both sides have the same records, or the message has another form.
    pub(crate) fn begin(&mut self, header: &Header) -> Result<Option<(Header, Converting)>, Error> {
        let tag = header.tag();
        let (Some(here), Some(there)) = (self.own.kind(tag), self.sender.kind(tag)) else {
            return Ok(None);
        };
        if !here.is_of_form(&there) || (here.head, here.schema) == (there.head, there.schema) {
            return Ok(None);
        }
        let refused = |reason: &str| Error::Conversion {
            tag,
            name: here.name.to_owned(),
            reason: reason.to_owned(),
        };
        let order = header.byte_order();
        let key = (here.tag, there.tag, order);
        let index = self.ready.iter().position(|ready| ready.0 == key).unwrap_or_else(|| {
            // A sender may have many more kinds than this side. No message that is converted is under way.
            if self.ready.len() >= 2 * self.maps.len() + FEW {
                self.ready.clear();
            }
            let maps = self.maps.iter().find(|(tag, ..)| *tag == here.tag);
            let conversion = maps.map_or(Err(String::new()), |(_, head, records)| {
                (self.prepare)(&there, *head, records, order)
            });
            self.ready.push((key, conversion));
            self.ready.len() - 1
        });
        let conversion = self.ready[index].1.as_ref().map_err(|reason| refused(reason))?;
        let header = conversion.header(header).ok_or_else(|| {
            refused(
                "the message is not one of the sender's protocol: its records have another type",
            )
        })??;
        let missing = conversion.head.as_ref().map_or(0, |head| head.fit.item_size());
        Ok(Some((header, Converting { index, missing, ..Converting::default() })))
    }

    /// Passes the next bytes of the payload on, converted.
    pub(crate) fn push(
        &mut self,
        converting: &mut Converting,
        mut bytes: &[u8],
        mut piece: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { own, ready, scratch, repack, .. } = self;
        let ((tag, ..), Ok(conversion)) = &ready[converting.index] else { return Ok(()) };
        let Converting { missing, head, records, count, wrong, .. } = converting;
        let mut convert = |part: &Part, items: &[u8], first: usize| {
            let size = part.fit.item_size();
            // As many records at a time as fit a chunk here.
            let step = (CHUNK / part.size.max(1)).max(1).saturating_mul(size);
            for (index, items) in items.chunks(step).enumerate() {
                if wrong.is_some() {
                    return Ok(());
                }
                match repack(&part.fit, items, items.len() / size, scratch) {
                    Ok(packed) => piece(packed)?,
                    Err(error) => {
                        let error = error.records_later(first + index * (step / size));
                        let name = own.kind(*tag).map_or("", |kind| kind.name).to_owned();
                        let reason = error.to_string();
                        *wrong = Some(Error::Conversion { tag: *tag, name, reason });
                    }
                }
            }
            Ok(())
        };
        if let Some(part) = &conversion.head
            && *missing > 0
        {
            let of_head = bytes.split_off(..(*missing).min(bytes.len())).unwrap_or_default();
            *missing -= of_head.len();
            head.push(part.fit.item_size(), of_head, |items| convert(part, items, 0))?;
        }
        let part = &conversion.records;
        records.push(part.fit.item_size(), bytes, |items| {
            let first = *count;
            *count += items.len() / part.fit.item_size();
            convert(part, items, first)
        })
    }
}

impl Conversion {
    fn new(
        there: &Kind<'_>,
        head: Option<&TypeMap>,
        records: &TypeMap,
        order: ByteOrder,
    ) -> Result<Self, String> {
        let head = head.zip(there.head);
        let head = head.map(|(map, schema)| Part::new(schema, map, order)).transpose()?;
        let records = Part::new(there.schema, records, order)?;
        let has_data = |part: &Part| part.fit.item_size() > 0;
        if !has_data(&records) || head.as_ref().is_some_and(|head| !has_data(head)) {
            return Err("its records have no data".to_owned());
        }
        let signature = head.as_ref().map_or(records.signature, |head| {
            crate::header::combined(head.signature, records.signature)
        });
        Ok(Self { head, records, signature })
    }

    /// The header of the converted message; `None` if the header is not that of the sender's records.
    fn header(&self, header: &Header) -> Option<Result<Header, Error>> {
        let size = self.records.fit.item_size() as u64;
        let (head, ours) =
            self.head.as_ref().map_or((0, 0), |head| (head.fit.item_size(), head.size));
        if !header.has_signature(self.signature) {
            return None;
        }
        let count = if self.head.is_some() {
            let rest = header.record_size().checked_sub(head as u64)?;
            (rest % size == 0 && header.count() == 1).then_some(rest / size)?
        } else {
            (header.record_size() == size).then_some(header.count())?
        };
        Some(header.converted(self.head.is_some().then_some(ours), self.records.size, count))
    }
}

/// Why the sender's records do not fit.
fn reason(misfit: Misfit) -> String {
    let (field, what) = match misfit {
        Misfit::Missing { field } => {
            (field, "is only here, and has no `#[dtype(default)]`".to_owned())
        }
        Misfit::Unknown { field } => (field, "occurs twice there".to_owned()),
        Misfit::Format { field, expected, actual } => {
            (field, format!("is {actual} there and {expected} here"))
        }
        Misfit::Shape { field, expected, actual } => {
            (field, format!("has the lengths {actual:?} there and {expected:?} here"))
        }
        Misfit::MixedByteOrder { field } | Misfit::Malformed { field } => {
            (field, "is malformed there".to_owned())
        }
    };
    format!("the field `{}` {what}", shown(&field))
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Version").field("sender", &self.sender).finish_non_exhaustive()
    }
}
