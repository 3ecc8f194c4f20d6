//! Which values the packed records of a type made at run time may have.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use super::checks::{check_length, packed_size};
use super::stream::{Unpacker, ValidateRecords};
use crate::basic::{Basic, Kind};
use crate::error::Error;
use crate::types::Type;

/// The most runs of equal basic datatypes that are looked at, and the most checks.
const MOST: usize = 1 << 20;

/// Bytes of records that are checked at a time, so that each check finds them in the first-level cache.
const BATCH: usize = 8192;

/// Which values the packed records of a type made at run time may have: a `bool` is 0 or 1, and
/// [`restrict`](Self::restrict) says which numbers an enumeration has.
///
/// A Rust type brings its checks along. A [`Type`] does not: whoever unpacks by one into memory of another language, where other
/// bytes would be an invalid value, checks them first, with [`check`](Self::check) or with [`Unpacker::with_checks`].
///
/// ```
/// use dtype_runtime::convertor::ValueChecks;
/// use dtype_runtime::{Basic, Error, Type};
///
/// // struct { uint8_t colour; bool visible; }, where a colour is 0, 1 or 4.
/// let [colour, visible] = [Basic::U8, Basic::Bool].map(Type::basic);
/// let ty = Type::structure(&[1, 1], &[0, 1], &[colour, visible])?;
/// let mut checks = ValueChecks::new(&ty)?;
/// checks.restrict(0..1, "colour", &[0, 1, 4])?;
///
/// assert_eq!(checks.check(&[4, 1, 0, 0], 2), Ok(()));
/// let error = checks.check(&[4, 1, 3, 0], 2).unwrap_err();
/// let text = "record 1, field colour: not a valid enumeration: 0x3 is none of its 3 values";
/// assert_eq!(error.to_string(), text);
/// let error = checks.check(&[4, 2], 1).unwrap_err();
/// assert!(matches!(error, Error::InvalidValue { record: 0, expected: "bool", value: 2, .. }));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValueChecks(Arc<Checks>);

#[derive(Clone, Debug)]
struct Checks {
    ty: Type,
    /// Packed bytes of a record.
    record: usize,
    /// In the order of the packed bytes. No two of them check the same value.
    rules: Vec<Rule>,
}

/// What neighbouring values of one width may be.
#[derive(Clone, Debug)]
struct Rule {
    /// Their indices among the basic datatypes of the type.
    elements: Range<u64>,
    /// Packed bytes before them.
    offset: usize,
    /// Bytes of each.
    width: usize,
    /// `None` for a `bool`.
    set: Option<Arc<Set>>,
}

/// The values of an enumeration.
#[derive(Debug)]
struct Set {
    name: String,
    /// Ascending, without repetitions.
    values: Box<[u128]>,
}

impl ValueChecks {
    /// Checks the truth values of a type, and nothing else.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyEntries`] if the type's signature has more than 2²⁰ runs of equal basic datatypes;
    /// [`Error::CountTooLarge`] if the packed bytes of an instance cannot be addressed.
    pub fn new(ty: &Type) -> Result<Self, Error> {
        let (record, mut rules) = (packed_size(ty.size(), 1)?, Vec::new());
        for_each_run(ty, |basic, elements, offset| {
            if basic.canonical() == Basic::Bool {
                rules.push(Rule { elements, offset, width: 1, set: None });
            }
            Ok(())
        })?;
        Ok(Self(Arc::new(Checks { ty: ty.clone(), record, rules })))
    }

    /// Also checks that these elements, counted from 0 in the order of the type map, have one of these values. They are one field
    /// of this name, of one basic datatype. What was checked of them before no longer is.
    ///
    /// # Errors
    ///
    /// [`Error::ArgumentRange`] if there are no elements, some do not exist, or they have several basic datatypes;
    /// [`Error::ArgumentType`] if they are neither integers, characters, truth values nor bytes of at most 16 bytes;
    /// [`Error::ArgumentRange`] for a value that does not fit the width; [`Error::TooManyEntries`].
    pub fn restrict(
        &mut self,
        elements: Range<u64>,
        name: &str,
        values: &[i128],
    ) -> Result<(), Error> {
        const CALL: &str = "restrict";
        let range = |argument, value, least, greatest| Error::ArgumentRange {
            call: CALL,
            argument,
            index: None,
            value,
            least,
            greatest,
        };
        let (first, end, all) = (elements.start, elements.end, self.0.ty.elements());
        if first >= end || end > all {
            return Err(range("end of the elements", end, first.saturating_add(1), all));
        }
        let mut found = None;
        for_each_run(&self.0.ty, |basic, run, offset| {
            if run.contains(&first) {
                found = Some((basic, run, offset));
            }
            Ok(())
        })?;
        let Some((basic, run, offset)) = found.filter(|(_, run, _)| end <= run.end) else {
            return Err(range("end of the elements", end, first + 1, first + 1));
        };
        let width = basic.size();
        if width > 16 || matches!(basic.kind(), Kind::Float | Kind::Complex) {
            let expected = "an integer, a character, a truth value or a byte";
            let (argument, actual) = ("elements", basic.name());
            return Err(Error::ArgumentType { call: CALL, argument, expected, actual });
        }
        let bits = 8 * width;
        let mask = u128::MAX >> (128 - bits);
        // As a signed number, or as an unsigned one.
        let fits = |value: i128| value.cast_unsigned() & !mask == 0 || value >> (bits - 1) == -1;
        if let Some(value) = values.iter().find(|value| !fits(**value)) {
            let narrow = |value| u64::try_from(value).unwrap_or(u64::MAX);
            return Err(range("values", narrow(value.cast_unsigned()), 0, narrow(mask)));
        }
        let mut values: Vec<u128> = values.iter().map(|it| it.cast_unsigned() & mask).collect();
        values.sort_unstable();
        values.dedup();
        let set = Set { name: name.to_owned(), values: values.into() };
        // The elements lie in a record, which can be addressed.
        let offset = offset + narrow(first - run.start) * width;
        let rule = Rule { elements, offset, width, set: Some(Arc::new(set)) };
        let checks = Arc::make_mut(&mut self.0);
        let mut rules = Vec::with_capacity(checks.rules.len() + 2);
        for old in checks.rules.drain(..) {
            rules.extend(old.part(0..first));
            rules.extend(old.part(end..u64::MAX));
        }
        rules.push(rule);
        rules.sort_by_key(|rule| rule.offset);
        checks.rules = rules;
        check_number(checks.rules.len())
    }

    /// Whether any value is checked.
    pub fn is_empty(&self) -> bool {
        self.0.rules.is_empty()
    }

    /// Checks `count` packed records in this machine's representation.
    ///
    /// # Errors
    ///
    /// [`Error::PackedLength`], [`Error::CountTooLarge`]; of the first record with a wrong value [`Error::InvalidValue`] for a
    /// truth value without a name, and [`Error::CheckFailed`] for a field that was [restricted](Self::restrict).
    pub fn check(&self, packed: &[u8], count: usize) -> Result<(), Error> {
        self.0.validate(packed, count)
    }
}

impl ValidateRecords for Checks {
    fn validate(&self, packed: &[u8], count: usize) -> Result<(), Error> {
        let Self { ty, record, rules } = self;
        check_length(packed_size(ty.size(), count)?, packed)?;
        if packed.is_empty() {
            return Ok(());
        }
        let at_a_time = (BATCH / record).max(1);
        for (batch, bytes) in packed.chunks(at_a_time * record).enumerate() {
            if !rules.iter().all(|rule| rule.holds(bytes, *record)) {
                return Err(first_error(rules, bytes, *record).records_later(batch * at_a_time));
            }
        }
        Ok(())
    }
}

impl Unpacker<'_> {
    /// The stream from its start, whose records are checked before they are written, as those of a Rust type are: each record
    /// is written once all of its bytes have arrived. Combine it with
    /// [`with_representation`](Self::with_representation) in this order.
    ///
    /// # Errors
    ///
    /// [`Error::SignatureMismatch`] if the checks were made for a type with another signature; [`Error::OutsidePart`] for a part
    /// of a stream, made by [`split_at`](Self::split_at).
    ///
    /// ```
    /// use dtype_runtime::convertor::ValueChecks;
    /// use dtype_runtime::{Basic, Type};
    /// let flags = Type::basic(Basic::Bool).commit();
    /// let checks = ValueChecks::new(&flags)?;
    /// let mut memory = [7; 2];
    /// let mut unpacker = flags.unpacker(&mut memory, 2)?.with_checks(&checks)?;
    /// unpacker.unpack(&[1])?;
    /// assert!(unpacker.unpack(&[2]).is_err());
    /// assert_eq!(memory, [1, 7]);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn with_checks(self, checks: &ValueChecks) -> Result<Self, Error> {
        self.with_validation(&checks.0.ty, checks.0.clone())
    }
}

impl Rule {
    /// The part of the rule that is for these elements.
    fn part(&self, elements: Range<u64>) -> Option<Self> {
        let start = self.elements.start.max(elements.start);
        let end = self.elements.end.min(elements.end);
        let offset = self.offset + narrow(start.saturating_sub(self.elements.start)) * self.width;
        (start < end).then(|| Self { elements: start..end, offset, ..self.clone() })
    }

    /// The values in a record.
    fn values<'b>(&self, record: &'b [u8]) -> impl Iterator<Item = u128> + use<'b> {
        let (width, end) = (self.width, self.offset + narrow(self.len()) * self.width);
        record[self.offset..end].chunks_exact(width).map(value)
    }

    fn len(&self) -> u64 {
        self.elements.end - self.elements.start
    }

    fn accepts(&self, value: u128) -> bool {
        match &self.set {
            None => value <= 1,
            Some(set) => set.values.binary_search(&value).is_ok(),
        }
    }

    /// Whether all records have accepted values.
    fn holds(&self, records: &[u8], record: usize) -> bool {
        let all = records.chunks_exact(record);
        if self.set.is_none() {
            let end = self.offset + narrow(self.len());
            let bits =
                |bytes: &[u8]| bytes[self.offset..end].iter().fold(0, |all, byte| all | byte);
            return all.fold(0, |all, bytes| all | bits(bytes)) <= 1;
        }
        all.into_iter().all(|bytes| self.values(bytes).all(|value| self.accepts(value)))
    }

    /// The error of the first wrong value in a record.
    fn error(&self, record: &[u8]) -> Option<Error> {
        let mut values = self.values(record).enumerate();
        let (index, value) = values.find(|(_, value)| !self.accepts(*value))?;
        let Some(set) = &self.set else {
            let path = format!("element {}", self.elements.start + index as u64);
            return Some(Error::InvalidValue { record: 0, path, expected: "bool", value });
        };
        let name = &set.name;
        let path = if self.len() == 1 { name.clone() } else { format!("{name}[{index}]") };
        let reason = format!("{value:#x} is none of its {} values", set.values.len());
        Some(Error::CheckFailed { record: 0, path, of: "enumeration".to_owned(), reason })
    }
}

/// The error of the first record with a wrong value.
#[cold]
fn first_error(rules: &[Rule], records: &[u8], record: usize) -> Error {
    let mut all = records.chunks_exact(record).enumerate();
    let found = all.find_map(|(index, bytes)| {
        let error = rules.iter().find_map(|rule| rule.error(bytes))?;
        Some(error.records_later(index))
    });
    // The caller has found a wrong value.
    found.unwrap_or(Error::PackedLength { expected: record as u64, actual: records.len() as u64 })
}

/// Visits the runs of equal basic datatypes of a type, in packed order, with the indices of their elements and the packed bytes
/// before them.
fn for_each_run(
    ty: &Type,
    mut visit: impl FnMut(Basic, Range<u64>, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let (mut element, mut offset) = (0, 0);
    for (index, (basic, count)) in ty.signature().runs().enumerate() {
        check_number(index)?;
        visit(basic, element..element + count, narrow(offset))?;
        element += count;
        offset += count * basic.size() as u64;
    }
    Ok(())
}

fn check_number(entries: usize) -> Result<(), Error> {
    let limit = MOST as u64;
    if entries > MOST {
        Err(Error::TooManyEntries { entries: entries as u64, limit })
    } else {
        Ok(())
    }
}

/// A number of bytes or elements of a record, which can be addressed.
fn narrow(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A value of up to 16 bytes, zero-extended.
fn value(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    if cfg!(target_endian = "little") {
        all[..bytes.len()].copy_from_slice(bytes);
    } else {
        all[16 - bytes.len()..].copy_from_slice(bytes);
    }
    u128::from_ne_bytes(all)
}
