//! Puts and gets that the peer's worker completes: see [`service`](crate::service).

use std::collections::VecDeque;

use dtype_runtime::{Committed, Datatype};

use crate::allocation::with_room;
use crate::elements::{Elements, Source};
use crate::endpoint::Endpoint;
use crate::error::{Error, lost};
use crate::mode::ThreadMode;
use crate::operation;
use crate::service::PendingGet;
use crate::service::wire::{
    Block, GET, MAX_BLOCKS, MAX_BYTES, MAX_ROWS, OF_BLOCKS, PUT, Request, Row,
};

/// How many requests of an endpoint are in flight at a time.
const WINDOW: usize = 16;
/// At least this many blocks are packed, if they have at most this length on average.
///
/// The time for a put and a flush block by block, divided by that of one message. Best of 41 each, in turns in one run, on a
/// machine with other work:
///
/// ```text
///                8 bytes   512   1024   2048
/// tcp    4 blocks    1.5   1.6    1.5    1.5
///       16           4.5   4.2    3.8    3.9
///       64            16    12      8      6
///     1000           130     1      1      3
/// cma    4 blocks    0.6   0.5    0.5    0.5    a difference of 1 µs
///       16           1.2   0.9    0.8    0.6
///       64           3.4   1.4    1.2    0.9
///     1000            21   1.2    2.5    2.2
/// ```
const MANY: usize = 4;
const SHORT: usize = 1024;

/// Whether a layout is many small blocks.
pub(crate) fn is_worthwhile(layout: &Committed) -> Result<bool, Error> {
    let size = layout.packed_size(1)?;
    let enough = (size / SHORT).max(MANY);
    Ok(layout.iov(1, 0..size as u64)?.take(enough).count() == enough)
}

/// A layout in memory that the peer's worker serves.
pub(crate) struct Target<'a, M: ThreadMode> {
    pub(crate) endpoint: &'a Endpoint<M>,
    /// The number of the memory.
    pub(crate) memory: u64,
    pub(crate) layout: &'a Committed,
    pub(crate) origin: i64,
}

/// A request without its packed bytes.
struct Part {
    request: Request,
    /// Room for the request, followed by the parts of the layout.
    message: Vec<u8>,
}

impl Part {
    /// A request with these parts of its layout, and room for this many packed bytes.
    fn new<T: Datatype>(request: Request, parts: &[T], length: u64) -> Result<Self, Error> {
        let before = Request::SIZE + dtype_runtime::packed_size::<T>(parts.len());
        let mut message = with_room(before + bytes(length))?;
        message.resize(Request::SIZE, 0);
        dtype_runtime::pack_onto(&mut message, parts);
        Ok(Self { request, message })
    }
}

impl<M: ThreadMode> Target<'_, M> {
    /// Sends the elements, which have as many packed bytes as the layout. They may be changed when this returns, and are in the
    /// target after a flush.
    pub(crate) fn put(&self, elements: Elements<'_>) -> Result<(), Error> {
        let mut source = Source::new(elements);
        let result = self.parts(PUT, |part, length| {
            self.wait_for_room()?;
            let Part { request, mut message } = part;
            let before = message.len();
            message.resize(before + length, 0);
            source.fill(&mut message[before..]);
            let (worker, traffic) = (self.endpoint.worker(), self.endpoint.traffic());
            let open = self.endpoint.open().map_err(lost)?;
            // SAFETY: the endpoint is alive, and belongs to this worker.
            unsafe { worker.service().put(open.handle, traffic, request, message) };
            Ok(())
        });
        self.end();
        result
    }

    /// The packed bytes of the layout.
    pub(crate) fn get(&self) -> Result<Vec<u8>, Error> {
        let mut packed = with_room(self.layout.packed_size(1)?)?;
        let mut asked = VecDeque::new();
        let mut result = self.parts(GET, |part, _| {
            if asked.len() == WINDOW
                && let Some(first) = asked.pop_front()
            {
                packed.extend(self.wait(&first)?);
            }
            let (worker, traffic) = (self.endpoint.worker(), self.endpoint.traffic());
            let open = self.endpoint.open().map_err(lost)?;
            // SAFETY: the endpoint is alive, and belongs to this worker.
            let get =
                unsafe { worker.service().get(open.handle, traffic, part.request, part.message) };
            asked.push_back(get);
            Ok(())
        });
        for each in asked {
            // After an error, the other requests are not waited for.
            if result.is_ok() {
                result = self.wait(&each).map(|bytes| packed.extend(bytes));
            }
        }
        self.end();
        result.map(|()| packed)
    }

    /// Waits until another request may be sent.
    fn wait_for_room(&self) -> Result<(), Error> {
        let traffic = self.endpoint.traffic();
        let failed = || self.endpoint.failure();
        if traffic.puts() >= WINDOW {
            let worker = self.endpoint.worker();
            worker.wait(|| {
                worker.resume_panic();
                (traffic.puts() < WINDOW || failed().is_some()).then_some(())
            });
        }
        failed().map_or(Ok(()), Err)
    }

    fn wait(&self, asked: &PendingGet) -> Result<Vec<u8>, Error> {
        let worker = self.endpoint.worker();
        worker.wait(|| {
            worker.resume_panic();
            let failure = || self.endpoint.failure().map(Err);
            asked.reply().or_else(failure)
        })
    }

    /// Called after the last request, outside UCX: wakes tasks, and resumes a panic.
    fn end(&self) {
        operation::wake();
        self.endpoint.worker().resume_panic();
    }

    /// Calls a function for each request that is needed, with its number of packed bytes.
    fn parts(
        &self,
        way: u8,
        mut send: impl FnMut(Part, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let size = self.layout.packed_size(1)? as u64;
        let request = Request {
            token: 0,
            memory: self.memory,
            base: 0,
            run: 0,
            position: 0,
            length: 0,
            parts: 0,
            kind: way,
        };
        if let Some((base, run, rows)) = self.rows() {
            let count = number(rows.len());
            let mut position = 0;
            while position < size {
                let length = (size - position).min(MAX_BYTES as u64);
                let request = Request { base, run, position, length, parts: count, ..request };
                send(Part::new(request, &rows, length)?, bytes(length))?;
                position += length;
            }
            return Ok(());
        }
        let mut segments = self.layout.iov(1, 0..size)?;
        let (mut blocks, mut length, mut rest) = (Vec::new(), 0, None);
        loop {
            let next = rest.take().or_else(|| {
                let segment = segments.next()?;
                Some(Block { displacement: self.origin + segment.disp, length: segment.len })
            });
            if let Some(Block { displacement, length: whole }) = next {
                let taken = whole.min(MAX_BYTES as u64 - length);
                blocks.push(Block { displacement, length: taken });
                length += taken;
                if taken < whole {
                    let displacement = displacement + taken.cast_signed();
                    rest = Some(Block { displacement, length: whole - taken });
                }
            }
            let full = length == MAX_BYTES as u64 || blocks.len() == MAX_BLOCKS;
            if (full || next.is_none()) && !blocks.is_empty() {
                let (parts, kind) = (number(blocks.len()), way + OF_BLOCKS);
                let request = Request { length, parts, kind, ..request };
                send(Part::new(request, &blocks, length)?, bytes(length))?;
                blocks.clear();
                length = 0;
            }
            if next.is_none() {
                return Ok(());
            }
        }
    }

    /// The layout as rows of repetitions, with the displacement and the length of the first run; `None` if it is not such a
    /// nest.
    fn rows(&self) -> Option<(i64, u64, Vec<Row>)> {
        let levels = self.layout.levels().filter(|levels| levels.len() <= MAX_ROWS)?;
        let (first, last) = (levels.first()?, levels.last()?);
        let rows = levels.iter().map(|level| Row { count: level.count, stride: level.stride });
        Some((self.origin + first.base, last.length, rows.collect()))
    }
}

/// The number of parts, which is at most [`MAX_BLOCKS`].
fn number(parts: usize) -> u32 {
    u32::try_from(parts).unwrap_or(u32::MAX)
}

/// The number of packed bytes, which is at most [`MAX_BYTES`].
fn bytes(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
