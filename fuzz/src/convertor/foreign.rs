//! Packers and unpackers of a stream in another representation.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Result, Unstructured};
use dtype_runtime::convertor::{Conversion, Converted};
use dtype_runtime::{Buffer, BufferMut, Error, Packer, Unpacker};

use super::layout::Layout;
use super::represented::{Machine, Numbers, Represented, Spot};

/// The maximum number of packers, and the maximum number of unpackers.
const MAX_PARTS: usize = 4;

/// A call.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Call {
    Pack(u8, Spot),
    PlacePacker(u8, Spot),
    ClonePacker(u8),
    /// Unpacks the rest of the stream, or a part of it.
    Unpack(u8, Spot),
    /// Sets another position. If the flag is set, a stream of other values follows.
    PlaceUnpacker(u8, Spot, bool),
    Split(u8, Spot),
}

/// Makes packers and unpackers for a machine, and runs this number of calls.
pub(super) fn session(
    layout: &Layout,
    machine: Machine,
    numbers: Numbers,
    calls: u8,
    input: &mut Unstructured<'_>,
) -> Result<()> {
    let Layout { committed, origin, count, .. } = layout;
    let representation = machine.representation();
    let Some(represented) = Represented::new(layout, machine, numbers) else {
        let refused = committed.conversion(representation).err();
        assert!(matches!(refused, Some(Error::NoConversion { .. })), "{refused:?}");
        return Ok(());
    };
    let conversion = committed.conversion(representation).unwrap();
    assert_eq!(conversion.representation(), representation);
    check(layout, &represented, &conversion);
    let mut sender = Sender::new(layout, &represented, &conversion);
    let mut target = layout.untouched();
    let mut wanted = layout.untouched();
    let mut receiver = if layout.overlaps {
        let refused =
            conversion.unpacker(BufferMut::new(&mut target).origin(*origin as i64), *count).err();
        assert_eq!(refused, Some(Error::Overlap { count: *count as u64 }));
        None
    } else {
        Some(Receiver::new(layout, &represented, &conversion, &mut target, &mut wanted))
    };
    for _ in 0..calls {
        if input.is_empty() {
            break;
        }
        match Call::arbitrary(input)? {
            Call::Pack(who, to) => sender.pack(who, to),
            Call::PlacePacker(who, to) => sender.place(who, to),
            Call::ClonePacker(who) => sender.clone_one(who),
            receiving => {
                if let Some(receiver) = &mut receiver {
                    receiver.step(receiving);
                }
            }
        }
    }
    drop(receiver);
    assert_eq!(target, wanted);
    Ok(())
}

/// Checks the calls that move the whole message.
fn check(layout: &Layout, represented: &Represented, conversion: &Conversion) {
    let Layout { origin, count, .. } = layout;
    let Represented { memory, packed, .. } = represented;
    assert_eq!(conversion.packed_size(*count), Ok(packed.len()));
    let mut out = vec![0xA5; packed.len() + 2];
    let result = conversion.pack(Buffer::new(memory).origin(*origin as i64), *count, &mut out[1..]);
    if let Some(error) = represented.refusal(0, packed.len()) {
        assert_eq!(result.as_ref(), Err(error));
        assert_eq!(out, vec![0xA5; out.len()]);
    } else {
        assert_eq!(result, Ok(packed.len()));
        assert_eq!(out[1..=packed.len()], packed[..]);
        assert_eq!((out[0], out[packed.len() + 1]), (0xA5, 0xA5));
    }
    if let Some(less) = packed.len().checked_sub(1) {
        let refused =
            Error::DestinationTooSmall { needed: less as u64 + 1, available: less as u64 };
        assert_eq!(
            conversion.pack(Buffer::new(memory).origin(*origin as i64), *count, &mut out[..less]),
            Err(refused)
        );
    }

    let mut target = layout.untouched();
    let mut wanted = layout.untouched();
    let sent = represented.sent(0, packed.len(), 0);
    let expected = if layout.overlaps {
        Err(Error::Overlap { count: *count as u64 })
    } else {
        let mut coming = Coming::default();
        coming.come(represented, 0, &sent, &mut wanted).map(|()| packed.len())
    };
    assert_eq!(
        conversion.unpack(&sent, BufferMut::new(&mut target).origin(*origin as i64), *count),
        expected
    );
    assert_eq!(target, wanted);
}

/// The packers, with their positions.
struct Sender<'a> {
    represented: &'a Represented,
    packers: Vec<(Packer<'a, Converted>, usize)>,
}

impl<'a> Sender<'a> {
    fn new(layout: &Layout, represented: &'a Represented, conversion: &Conversion) -> Self {
        let Layout { committed, origin, count, .. } = layout;
        let memory = &represented.memory;
        let packer = |memory| -> Packer<'a> {
            committed.packer(Buffer::new(memory).origin(*origin as i64), *count).unwrap()
        };
        let hash = packer(memory).signature_hash();
        // One converted packer is made by a conversion for many streams, and one for this stream.
        let packers: Vec<_> = [
            conversion.packer(Buffer::new(memory).origin(*origin as i64), *count).unwrap(),
            packer(memory).with_representation(represented.representation).unwrap(),
        ]
        .into_iter()
        .map(|packer| (packer, 0))
        .collect();
        assert!(packers.iter().all(|(packer, _)| packer.signature_hash() == hash));
        Self { represented, packers }
    }

    fn pack(&mut self, who: u8, to: Spot) {
        let Self { represented, packers } = self;
        let (packed, end) = (&represented.packed, represented.packed.len());
        let who = usize::from(who) % packers.len();
        let (packer, position) = &mut packers[who];
        let at = *position;
        let room = represented.bytes(at, to);
        let number = room.min(end - at);
        let mut out = vec![0xA5; room + 2];
        let result = packer.pack(&mut out[1..=room]);
        if let Some(error) = represented.refusal(at, at + number) {
            assert_eq!(result.as_ref(), Err(error));
            assert_eq!(out, vec![0xA5; room + 2]);
        } else {
            assert_eq!(result, Ok(number));
            assert_eq!(out[1..=number], packed[at..at + number]);
            assert_eq!(out[0], 0xA5);
            assert_eq!(out[number + 1..], vec![0xA5; room + 1 - number]);
            *position += number;
        }
        self.check(who);
    }

    fn place(&mut self, who: u8, to: Spot) {
        let to = self.represented.position(to);
        let end = self.represented.packed.len();
        let who = usize::from(who) % self.packers.len();
        let (packer, position) = &mut self.packers[who];
        let result = packer.set_position(to as u64);
        if to > end {
            assert_eq!(result, Err(Error::Position { position: to as u64, end: end as u64 }));
        } else {
            assert_eq!(result, Ok(()));
            *position = to;
        }
        self.check(who);
    }

    fn clone_one(&mut self, who: u8) {
        if self.packers.len() < MAX_PARTS {
            let one = self.packers[usize::from(who) % self.packers.len()].clone();
            self.packers.push(one);
        }
    }

    fn check(&self, who: usize) {
        let (packer, position) = &self.packers[who];
        let left = self.represented.packed.len() - position;
        assert_eq!((packer.position(), packer.remaining()), (*position as u64, left as u64));
        assert_eq!(packer.is_complete(), left == 0);
    }
}

/// The received bytes of incomplete values that can only be converted as a whole, by the number of the value.
#[derive(Clone, Debug, Default)]
struct Coming(BTreeMap<usize, Vec<Option<u8>>>);

impl Coming {
    /// Receives bytes from a position on. Updates the memory and the incomplete values, or returns the reason for a refusal.
    fn come(
        &mut self,
        represented: &Represented,
        from: usize,
        bytes: &[u8],
        memory: &mut [u8],
    ) -> std::result::Result<(), Error> {
        let to = from + bytes.len();
        let (mut kept, mut written) = (self.0.clone(), Vec::new());
        for (index, value) in represented.values(from, to) {
            let range = from.max(value.start)..to.min(value.end());
            if value.is_bytewise() {
                written.extend(range.map(|at| (value.byte(at), bytes[at - from])));
                continue;
            }
            let there = kept.entry(index).or_insert_with(|| vec![None; value.there.size]);
            for at in range {
                there[at - value.start] = Some(bytes[at - from]);
            }
            let Some(all) = there.iter().copied().collect::<Option<Vec<u8>>>() else { continue };
            let here = value.there.convert(&all, value.here);
            let here = here.map_err(|misfit| value.refused(misfit, value.here))?;
            written.extend(here.into_iter().enumerate().map(|(i, byte)| (value.place + i, byte)));
            kept.remove(&index);
        }
        for (at, byte) in written {
            memory[at] = byte;
        }
        self.0 = kept;
        Ok(())
    }
}

/// The unpackers, and the expected memory.
struct Receiver<'a, 'm> {
    represented: &'a Represented,
    parts: Vec<Part<'m>>,
    wanted: &'a mut [u8],
}

struct Part<'m> {
    unpacker: Unpacker<'m, Converted>,
    start: usize,
    end: usize,
    position: usize,
    coming: Coming,
    /// The number of the received stream.
    salt: usize,
}

impl<'a, 'm> Receiver<'a, 'm> {
    fn new(
        layout: &Layout,
        represented: &'a Represented,
        conversion: &Conversion,
        target: &'m mut [u8],
        wanted: &'a mut [u8],
    ) -> Self {
        let Layout { committed, origin, count, .. } = layout;
        let end = represented.packed.len();
        let representation = represented.representation;
        let mut other = target.to_vec();
        let unpacker: Unpacker<'_> =
            committed.unpacker(BufferMut::new(&mut other).origin(*origin as i64), *count).unwrap();
        let hash = unpacker.signature_hash();
        let unpacker = unpacker.with_representation(representation).unwrap();
        assert_eq!((unpacker.remaining(), unpacker.signature_hash()), (end as u64, hash));
        let unpacker =
            conversion.unpacker(BufferMut::new(target).origin(*origin as i64), *count).unwrap();
        assert_eq!(unpacker.signature_hash(), hash);
        let coming = Coming::default();
        let parts = vec![Part { unpacker, start: 0, end, position: 0, coming, salt: 1 }];
        Self { represented, parts, wanted }
    }

    fn step(&mut self, call: Call) {
        let (Call::Unpack(who, _) | Call::PlaceUnpacker(who, ..) | Call::Split(who, _)) = call
        else {
            return;
        };
        if self.parts.is_empty() {
            return;
        }
        let who = usize::from(who) % self.parts.len();
        let represented = self.represented;
        let part = &mut self.parts[who];
        match call {
            Call::Unpack(_, to) => part.unpack(represented, to, self.wanted),
            Call::PlaceUnpacker(_, to, anew) => {
                part.place(represented.position(to));
                part.salt += usize::from(anew);
            }
            _ if self.parts.len() == MAX_PARTS => {}
            Call::Split(_, middle) => {
                let part = self.parts.swap_remove(who);
                self.parts.extend(part.split(represented, represented.position(middle)));
            }
            _ => {}
        }
        self.parts.iter().for_each(Part::check);
    }
}

impl Part<'_> {
    fn unpack(&mut self, represented: &Represented, to: Spot, wanted: &mut [u8]) {
        let (at, left) = (self.position, self.end - self.position);
        // The unpacker takes only the bytes of its part.
        let asked = represented.bytes(at, to);
        let number = asked.min(left);
        let mut bytes = represented.sent(at, at + number, self.salt);
        let expected = self.coming.come(represented, at, &bytes, wanted);
        bytes.resize(asked, 0xA5);
        if expected.is_ok() {
            self.position += number;
        }
        assert_eq!(self.unpacker.unpack(&bytes), expected.map(|()| number));
    }

    fn place(&mut self, to: usize) {
        let [position, start, end] = [to, self.start, self.end].map(|number| number as u64);
        let result = self.unpacker.set_position(position);
        if to > self.end {
            assert_eq!(result, Err(Error::Position { position, end }));
        } else if to < self.start {
            assert_eq!(result, Err(Error::OutsidePart { position, start, end }));
        } else {
            assert_eq!(result, Ok(()));
            self.position = to;
        }
    }

    /// Both parts; an empty list if the split is refused.
    fn split(self, represented: &Represented, middle: usize) -> Vec<Self> {
        let Self { unpacker, start, end, position, mut coming, salt } = self;
        let result = unpacker.split_at(middle as u64);
        if middle < position || middle > end {
            let refused = Error::Position { position: middle as u64, end: end as u64 };
            assert_eq!(result.err(), Some(refused));
            return Vec::new();
        }
        for at in [position, middle] {
            if let Some(value) = represented.inside(at) {
                let record = value.there.size as u64;
                let refused = Error::InsideRecord { position: at as u64, record };
                assert_eq!(result.err(), Some(refused));
                return Vec::new();
            }
        }
        let (front, back) = result.unwrap();
        let behind = represented.values.partition_point(|value| value.start < middle);
        let later = Coming(coming.0.split_off(&behind));
        vec![
            Self { unpacker: front, start, end: middle, position, coming, salt },
            Self {
                unpacker: back,
                start: middle,
                end,
                position: middle,
                coming: later,
                salt: salt + 1,
            },
        ]
    }

    fn check(&self) {
        let Self { unpacker, end, position, coming, .. } = self;
        let left = end - position;
        assert_eq!((unpacker.position(), unpacker.remaining()), (*position as u64, left as u64));
        assert_eq!((unpacker.is_complete(), unpacker.incomplete()), (left == 0, coming.0.len()));
    }
}
