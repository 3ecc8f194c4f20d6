//! Private types inside a function, one of them deep in an expression.
use dtype_runtime::Datatype;

#[test]
fn main() {
    struct Outside;

    #[derive(Datatype)]
    struct Inner(u8);

    #[derive(Datatype)]
    struct Outer<T> {
        inner: Inner,
        value: T,
        of: std::marker::PhantomData<Outside>,
    }

    assert_eq!(Outer::<u32>::TYPE_MAP.size(), 5);
    let size = (|| {
        #[derive(Datatype)]
        struct Deep {
            outer: Outer<Inner>,
        }
        Deep::TYPE_MAP.size()
    })();
    assert_eq!(size, 2);
}
