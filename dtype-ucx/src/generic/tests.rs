//! Tests that pass the handle to UCX as a C program would.

use dtype_runtime::{Basic, Type};

use super::GenericType;
use crate::{Context, Single, operation, raw};

#[test]
fn a_program_sends_and_receives_with_the_handle() {
    let worker = Context::with_settings([("TLS", "self")]).unwrap().worker::<Single>().unwrap();
    let endpoint = worker.connect(&worker.address().unwrap()).unwrap();
    let [i8, f64] = [Basic::I8, Basic::F64].map(Type::basic);
    let record = Type::structure(&[1, 1], &[0, 8], &[i8, f64]).unwrap().commit();
    let datatype = GenericType::new(&record).unwrap();
    for count in [0, 1, 1000, 100_000] {
        let memory: Vec<u8> = (0..16 * count).map(|at: usize| at.to_le_bytes()[0]).collect();
        let packed = record.pack_to_vec(&memory, count).unwrap();

        // SAFETY: the memory holds the instances and outlives the operation.
        let sent = unsafe {
            worker.blocking(|user_data| {
                let params = operation::params(datatype.handle(), operation::sent, user_data);
                let receiving = worker.start_recv::<u8>(1, packed.len()).unwrap();
                let buffer = memory.as_ptr().cast();
                let sent = raw::ucp_tag_send_nbx(
                    endpoint.connection().handle(),
                    buffer,
                    count,
                    1,
                    &raw const params,
                );
                assert_eq!(receiving.wait().unwrap().0, packed);
                sent
            })
        };
        assert_eq!(sent.status, raw::RawStatus::OK);

        let mut copy = vec![0x55_u8; 16 * count];
        let sending = endpoint.start_send(2, packed.clone()).unwrap();
        // SAFETY: as above, and the memory is borrowed exclusively.
        let received = unsafe {
            worker.blocking(|user_data| {
                let handle = datatype.handle();
                let params = operation::receive_params(handle, operation::received, user_data);
                let buffer = copy.as_mut_ptr().cast();
                raw::ucp_tag_recv_nbx(
                    worker.handle(),
                    buffer,
                    count,
                    2,
                    u64::MAX,
                    &raw const params,
                )
            })
        };
        assert_eq!((received.status, received.length), (raw::RawStatus::OK, packed.len()));
        sending.wait().unwrap();
        let mut expected = vec![0x55; 16 * count];
        record.unpack(&packed, &mut expected, count).unwrap();
        assert!(copy == expected);
    }
}
