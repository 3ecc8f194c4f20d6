//! What `Debug` prints: the state, and not the bytes of a message, a header, an address or a key.

use std::fmt::Debug;

use dtype_runtime::{Basic, Buffer, BufferMut, Type};
use dtype_ucx::{Context, Elements, ElementsMut, Header, Single};

#[test]
fn bytes_are_not_printed() {
    let context = Context::with_settings([("TLS", "self")]).unwrap();
    let worker = context.worker::<Single>().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    let memory = context.register(&[[7_u8; 4]; 100]).unwrap();
    let key = memory.key().unwrap();
    let remote = endpoint.remote_memory::<[u8; 4]>(&key).unwrap();
    // A copy, a list of blocks and a packer, of many bytes each.
    let elements = [(1, 3, 1000), (9000, 9001, 500), (1, 3, 9000)].map(|(block, stride, count)| {
        let ty = Type::vector(count, block, stride, &Type::basic(Basic::U8)).unwrap().commit();
        let mut memory = vec![7; 9001 * 500];
        let to_send = format!("{:?}", Elements::new(&ty, Buffer::new(&memory), 1).unwrap());
        let room = ElementsMut::new(&ty, BufferMut::new(&mut memory), 1).unwrap();
        format!("{to_send} {room:?}")
    });
    let sending = endpoint.start_send(1, vec![7_u8; 10_000]).unwrap();
    let printed: [(&str, &dyn Debug); 12] = [
        ("packed_size: 1000", &elements[0]),
        ("packed_size: 4500000", &elements[1]),
        ("packed_size: 9000", &elements[2]),
        ("len: 5000", &Header::from(&[7_u8; 5000][..])),
        ("process", &worker.address().unwrap()),
        ("len: 100", &key),
        ("Registered", &memory),
        ("RemoteMemory", &remote),
        ("Context", &context),
        ("Worker", &worker),
        ("Endpoint", &endpoint),
        ("Sending", &sending),
    ];
    for (part, value) in printed {
        let text = format!("{value:?}");
        assert!(text.len() < 250 && text.contains(part) && !text.contains("7, 7"), "{text}");
    }
    drop(sending);
    let _handler = worker
        .handle_active(2, |message| {
            assert_eq!(
                format!("{message:?}"),
                "ActiveMessage { id: 2, header_length: 3000, length: 1000, .. }"
            );
        })
        .unwrap();
    endpoint.send_active(2, &[7_u8; 3000], &[7_u8; 1000]).unwrap();
    worker.flush().unwrap();
}
