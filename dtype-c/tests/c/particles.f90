! The Fortran module: a derived type and a part of an array, packed and unpacked.

program particles
    use, intrinsic :: iso_c_binding
    use dtype
    implicit none

    type, bind(c) :: particle
        real(c_double) :: place(3)
        integer(c_int8_t) :: charge
        integer(c_int32_t) :: kind
    end type

    call records()
    call halo()
    call mistakes()

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        print *, what, ': ', dtype_message()
        error stop 1
    end subroutine

    function fields_of(one) result(fields)
        type(particle), target, intent(in) :: one
        type(dtype_struct) :: fields
        call fields%begin(c_loc(one), c_sizeof(one))
        call fields%add(c_loc(one%place), 3, DTYPE_F64)
        call fields%add(c_loc(one%charge), 1, DTYPE_I8)
        call fields%add(c_loc(one%kind), 1, DTYPE_I32)
    end function

    subroutine records()
        type(particle), target :: these(1000), back(1000)
        integer(c_int8_t), target :: bytes(29 * 1000), again(29 * 1000)
        integer(c_size_t) :: packed, at
        type(dtype_struct) :: fields
        type(c_ptr) :: committed, packer, unpacker
        integer(c_size_t), parameter :: all_bytes = 1000 * 32
        integer :: i
        do i = 1, 1000
            these(i) = particle([real(i, c_double), 0.5_c_double, -1.0_c_double], int(mod(i, 100), c_int8_t), i * 7)
        end do
        call check(c_sizeof(these(1)) == 32, 'size')
        fields = fields_of(these(1))
        committed = fields%commit()
        call check(c_associated(committed), 'commit')
        packed = 0
        call check(dtype_pack(committed, c_loc(these), all_bytes, 1000_c_size_t, c_loc(bytes), 29000_c_size_t, packed) == &
            DTYPE_OK, 'pack')
        call check(packed == 29000, 'packed')
        call check(bytes(29 + 25) == 2 .and. transfer(bytes(29 + 26:29 + 29), 0_c_int32_t) == 14, 'bytes')

        call check(dtype_packer_new(committed, c_loc(these), all_bytes, 1000_c_size_t, packer) == DTYPE_OK, 'packer')
        call check(dtype_unpacker_new(committed, c_loc(back), all_bytes, 1000_c_size_t, unpacker) == DTYPE_OK, 'unpacker')
        at = 0
        do while (at < 29000)
            call check(dtype_packer_pack(packer, c_loc(again(at + 1)), min(777_c_size_t, 29000 - at), packed) == DTYPE_OK, 'piece')
            call check(dtype_unpacker_unpack(unpacker, c_loc(again(at + 1)), packed, packed) == DTYPE_OK, 'unpack')
            at = at + packed
        end do
        call dtype_packer_release(packer)
        call dtype_unpacker_release(unpacker)
        call check(all(again == bytes), 'fragments')
        do i = 1, 1000
            call check(all(back(i)%place == these(i)%place) .and. back(i)%charge == these(i)%charge .and. &
                back(i)%kind == these(i)%kind, 'back')
        end do
        call dtype_committed_release(committed)
    end subroutine

    ! The second row of a matrix, as external32.
    subroutine halo()
        real(c_float), target :: matrix(4, 5)
        integer(c_int8_t), target :: bytes(20)
        type(c_ptr) :: element, row, committed
        integer(c_size_t) :: packed
        integer(c_int64_t), parameter :: starts(2) = [1, 0]
        matrix = reshape([(real(packed), packed = 1, 20)], [4, 5])
        call check(dtype_type_basic(DTYPE_REAL, element) == DTYPE_OK, 'basic')
        call check(dtype_type_subarray(2_c_size_t, [4_c_int64_t, 5_c_int64_t], [1_c_int64_t, 5_c_int64_t], starts, &
            DTYPE_ORDER_FORTRAN, element, row) == DTYPE_OK, 'subarray')
        call check(dtype_commit_as(row, DTYPE_EXTERNAL32, committed) == DTYPE_OK, 'commit')
        call check(dtype_pack(committed, c_loc(matrix), c_sizeof(matrix), 1_c_size_t, c_loc(bytes), 20_c_size_t, packed) == &
            DTYPE_OK, 'pack')
        ! 2.0 and 6.0, big-endian.
        call check(all(bytes(1:8) == [64, 0, 0, 0, 64, -64, 0, 0]), 'row')
        call dtype_type_release(element)
        call dtype_type_release(row)
        call dtype_committed_release(committed)
    end subroutine

    subroutine mistakes()
        type(particle), target :: one
        type(dtype_struct) :: fields
        type(c_ptr) :: committed
        integer(c_int32_t) :: error
        fields = fields_of(one)
        call fields%add(c_loc(one%kind), -1, DTYPE_I32)
        committed = fields%commit(error=error)
        call check(error == DTYPE_ERROR_ARGUMENT .and. .not. c_associated(committed), 'code')
        call check(dtype_message() == 'blocklengths is -1, expected at least 0', 'message')
    end subroutine
end program
