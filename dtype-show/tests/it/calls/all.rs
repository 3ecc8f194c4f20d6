/// A type of every constructor, in the form that `CallingSequence` prints for it.
#[rustfmt::skip]
#[expect(clippy::unreadable_literal, reason = "numbers are printed plainly")]
fn all() -> Result<Type, Error> {
    let t1 = Type::vector(4, 1, 6, &Type::basic(Basic::F64))?;
    let t2 = Type::dup(&t1)?;
    let t3 = Type::contiguous(7, &t1)?;
    let t4 = Type::hvector(3, 2, -400, &t1)?;
    let t5 = Type::indexed(&[1, 2, 0], &[5, -6, 7], &Type::basic(Basic::Int))?;
    let t6 = Type::hindexed(&[1, 2], &[50, -60], &Type::basic(Basic::U8))?;
    let t7 = Type::indexed_block(4, &[5, 0], &Type::pair(Pair::DoubleInt))?;
    let t8 = Type::hindexed_block(4, &[50, 0], &Type::pair(Pair::TwoInt))?;
    let t9 = Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::C, &Type::basic(Basic::I128))?;
    let t10 = Type::darray(6, 4, &[4, 9, 5], &[Distribution::Block(None), Distribution::Cyclic(Some(2)),
        Distribution::None], &[2, 3, 1], Order::Fortran, &Type::basic(Basic::Int))?;
    let t11 = Type::darray(2, 1, &[30, 2], &[Distribution::Block(Some(19)), Distribution::Cyclic(None)],
        &[2, 1], Order::C, &Type::basic(Basic::Int))?;
    let t12 = Type::resized(&t1, -4, 1000)?;
    let t13 = Type::f90_real(Some(15), None)?;
    let t14 = Type::f90_complex(None, Some(37))?;
    let t15 = Type::f90_integer(9)?;
    let t16 = Type::value_index(&Type::basic(Basic::F64), &Type::basic(Basic::U64))?;
    let t17 = Type::structure(&[1, 1, 1], &[-3, 0, 6], &[Type::lb_marker(), Type::basic(Basic::Int),
        Type::ub_marker()])?;
    let t18 = Type::value_index(&Type::basic(Basic::F16), &Type::basic(Basic::Int))?;
    let t19 = Type::structure(&[], &[], &[])?;
    let t20 = Type::structure(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], &[0, 10000,
        20000, 30000, 40000, 50000, 60000, 70000, 80000, 90000, 100000, 110000, 120000, 130000, 140000,
        150000, 160000, 170000, 180000, 190000], &[t2.clone(), t3.clone(), t4.clone(), t5.clone(),
        t6.clone(), t7.clone(), t8.clone(), t9.clone(), t10.clone(), t11.clone(), t12.clone(),
        t13.clone(), t14.clone(), t15.clone(), t16.clone(), t17.clone(), Type::basic(Basic::I128),
        Type::basic(Basic::Int), t18.clone(), t19.clone()])?;
    Ok(t20)
}
