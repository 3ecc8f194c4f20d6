//! Active messages between two processes.

use std::cell::RefCell;
use std::env;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use dtype_ucx::{Elements, ElementsMut, Error};

use super::{FORMS, Particle, Peer, READY, SIZES, Side, meet, particles};

/// Active messages of all sizes and forms, with a header. The data are received in the handler, or after it.
pub(super) fn every_form(side: &Side) {
    const ID: u8 = 7;
    type Header = (u32, bool);
    let came = Rc::new(RefCell::new(Vec::new()));
    let next = || loop {
        if let Some(message) = came.borrow_mut().pop() {
            return message;
        }
        side.worker.progress();
    };
    let full = env::var_os("DTYPE_UCX_FULL").is_some();
    for size in SIZES.into_iter().filter(|&size| full || size <= 1 << 20) {
        for (index, sent) in FORMS.into_iter().enumerate() {
            for (other, received) in FORMS.into_iter().enumerate() {
                if !full && size == 1 << 20 && other != (index + 1) % 3 {
                    continue;
                }
                let bytes: Vec<u8> =
                    (0..size).map(|at| (at * 31 / 7 + index).to_le_bytes()[0]).collect();
                let header: Header = (u32::try_from(size).unwrap(), index == 1);
                for sender in 0..2 {
                    if side.number == sender {
                        let ty = sent.ty(size);
                        let mut memory = vec![0x55; usize::try_from(ty.true_ub()).unwrap()];
                        ty.unpack(&bytes, &mut memory, 1).unwrap();
                        let elements = Elements::new(&ty, &memory, 1).unwrap();
                        // The peer has set its handler.
                        side.worker.recv::<()>(READY).unwrap();
                        side.peer.send_active(ID, &header, elements).unwrap();
                        side.worker.recv::<()>(READY).unwrap();
                        continue;
                    }
                    let (ty, mine) = (received.ty(size), came.clone());
                    let handler = side.worker.handle_active(ID, move |message| {
                        let mut memory = vec![0x55; usize::try_from(ty.true_ub()).unwrap()];
                        let header = message.header_as::<Header>().unwrap();
                        let elements = ElementsMut::new(&ty, &mut memory, 1).unwrap();
                        let length = message.recv_into(elements).unwrap();
                        mine.borrow_mut().push((header, length, memory));
                    });
                    let handler = handler.unwrap();
                    side.peer.send(READY, &[(); 0]).unwrap();
                    let (found, length, memory) = next();
                    drop(handler);
                    assert_eq!((found, length), (header, size));
                    let ty = received.ty(size);
                    let mut expected = vec![0x55; memory.len()];
                    ty.unpack(&bytes, &mut expected, 1).unwrap();
                    assert!(memory == expected, "{size} {sent:?} {received:?}: other bytes came");
                    side.peer.send(READY, &[(); 0]).unwrap();
                }
            }
        }
    }
    // Several structs at the same time, whose data are fetched after the handler.
    let counts = [0, 1, 3, 300, 20_000, 50_000];
    let fetching = Rc::new(RefCell::new(Vec::new()));
    let mine = fetching.clone();
    let handler = side.worker.handle_active(ID, move |message| {
        let round = message.header_as::<u8>().unwrap();
        mine.borrow_mut().push((round, message.start_recv::<Particle>().unwrap()));
    });
    let handler = handler.unwrap();
    meet(side);
    let sending: Vec<_> = (0..)
        .zip(counts)
        .map(|(round, count)| {
            side.peer.start_send_active(ID, &round, particles(count, round)).unwrap()
        })
        .collect();
    while fetching.borrow().len() < counts.len() {
        side.worker.progress();
    }
    for (round, request) in fetching.take() {
        let expected = particles(counts[usize::from(round)], round);
        assert!(request.wait().unwrap() == expected, "round {round}");
    }
    for sending in sending {
        sending.wait().unwrap();
    }
    side.worker.flush().unwrap();
    meet(side);
    drop(handler);
}

/// The peer ends while its long active message is announced. Fetching the message fails, or succeeds if the transport has the
/// data. If UCX notices nothing, closing the endpoint cancels the request.
pub(super) fn the_sender_dies(peer: &Peer, side: Side) {
    let announced = Rc::new(RefCell::new(0));
    let count = announced.clone();
    let fetching = Rc::new(RefCell::new(Vec::new()));
    let mine = fetching.clone();
    let pid = peer.child.id();
    let handler = side.worker.handle_active(7, move |message| {
        // Before this message and the next ones are fetched, the peer has ended.
        if message.header_as::<u8>() == Ok(1) {
            let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.unwrap().success());
            while std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z "))
            {}
        }
        *count.borrow_mut() += 1;
        assert_eq!(message.bytes(), None);
        mine.borrow_mut().push(message.start_recv::<Particle>());
    });
    let handler = handler.unwrap();
    side.peer.send(READY, &[1_u8]).unwrap();
    let start = Instant::now();
    while *announced.borrow() < 1 {
        side.worker.progress();
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    drop(handler);
    let Side { worker, peer, .. } = side;
    let fetched = fetching.take().remove(0).and_then(|request| {
        request.wait_timeout(Duration::from_secs(1)).unwrap_or_else(|request| {
            drop(peer);
            let result = request.wait_timeout(Duration::from_secs(60)).expect("it is cancelled");
            assert_eq!(result, Err(Error::Cancelled));
            result
        })
    });
    if let Ok(items) = fetched {
        assert!(items == particles(200_000, 1));
    }
    drop(worker);
}
