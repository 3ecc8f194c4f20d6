//! Active messages of structs, over packing by hand, an active message of the bytes, and unpacking by hand in the handler.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use anyhow::{Result, ensure};
use dtype_benches::{Hole, Nested, Shape, Tail};
use dtype_ucx::{Handler, Single};

use super::{Row, Side};

const RECORDS: u8 = 1;
const BYTES: u8 = 2;
const READY: u64 = 3;

pub(super) fn rows(side: &Side) -> Result<()> {
    for count in [16, 1000, 20_000] {
        records::<Tail>(side, count)?;
        records::<Hole>(side, count)?;
        records::<Nested>(side, count)?;
        side.section(&format!("active messages of structs × {count}"));
    }
    Ok(())
}

fn records<T: Shape + 'static>(side: &Side, count: usize) -> Result<()> {
    let row = Active::<T>::new(side, count)?;
    side.measure(&format!("active {{{}}} × {count}", T::NAME), row)
}

/// What the handlers write to.
struct Arrivals<T> {
    items: RefCell<Vec<T>>,
    /// The number of messages that came and were not waited for.
    count: Cell<usize>,
    /// Whether there was an error.
    failed: Cell<bool>,
}

struct Active<T> {
    source: Vec<T>,
    packed: Vec<u8>,
    arrivals: Rc<Arrivals<T>>,
    _handlers: [Handler<Single>; 2],
}

impl<T: Shape + 'static> Active<T> {
    fn new(side: &Side, count: usize) -> Result<Self> {
        let source: Vec<T> = (0..count).map(T::sample).collect();
        let packed = dtype_runtime::pack(&source);
        let items = RefCell::new(vec![T::default(); count]);
        let (count, failed) = (Cell::new(0), Cell::new(false));
        let arrivals = Rc::new(Arrivals { items, count, failed });
        let all = arrivals.clone();
        let whole = side.worker.handle_active(RECORDS, move |message| {
            let came = message.recv_into(&mut *all.items.borrow_mut());
            all.failed.set(all.failed.get() || came.is_err());
            all.count.set(all.count.get() + 1);
        })?;
        let (all, mut buffer) = (arrivals.clone(), packed.clone());
        let by_hand = side.worker.handle_active(BYTES, move |message| {
            let mut items = all.items.borrow_mut();
            if let Some(bytes) = message.bytes() {
                T::unpack_by_hand(bytes, &mut items);
            } else {
                let came = message.recv_into(&mut buffer);
                all.failed.set(all.failed.get() || came.is_err());
                T::unpack_by_hand(&buffer, &mut items);
            }
            all.count.set(all.count.get() + 1);
        })?;
        // The other process has its handlers, too.
        side.worker.scope(|scope| {
            scope.recv_into(READY, &mut [(); 0])?;
            scope.send(&side.peer, READY, &[(); 0])?;
            Ok(())
        })?;
        Ok(Self { source, packed, arrivals, _handlers: [whole, by_hand] })
    }
}

impl<T: Shape + 'static> Row for Active<T> {
    fn send(&mut self, side: &Side) -> Result<()> {
        Ok(side.peer.send_active(RECORDS, &(), &self.source)?)
    }

    fn receive(&mut self, side: &Side) -> Result<()> {
        while self.arrivals.count.get() == 0 {
            side.worker.progress();
        }
        self.arrivals.count.set(self.arrivals.count.get() - 1);
        ensure!(!self.arrivals.failed.get(), "a message was refused");
        Ok(())
    }

    fn send_by_hand(&mut self, side: &Side) -> Result<()> {
        T::pack_by_hand(&self.source, &mut self.packed);
        Ok(side.peer.send_active(BYTES, &(), &self.packed)?)
    }

    fn receive_by_hand(&mut self, side: &Side) -> Result<()> {
        self.receive(side)
    }

    fn check(&mut self) -> Result<()> {
        let mut items = self.arrivals.items.borrow_mut();
        ensure!(*items == self.source, "other records came");
        items.fill(T::default());
        Ok(())
    }

    fn size(&self) -> usize {
        self.packed.len()
    }
}
