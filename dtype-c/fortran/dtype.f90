! MPI-style datatypes for Fortran: dtype.h through iso_c_binding.
!
! A derived type with `bind(c)` or `sequence` is described by the addresses of its components:
!
!     type, bind(c) :: particle
!         real(c_double) :: place(3)
!         integer(c_int8_t) :: charge
!     end type
!     type(particle), target :: one
!     type(dtype_struct) :: fields
!
!     call fields%begin(c_loc(one), c_sizeof(one))
!     call fields%add(c_loc(one%place), 3, DTYPE_F64)
!     call fields%add(c_loc(one%charge), 1, DTYPE_I8)
!     committed = fields%commit()
!
! Functions of dtype.h that take few arguments are interfaces here, under their own names. Each that returns a code returns
! DTYPE_OK, 0, or why it did nothing; `dtype_message()` has the details. Handles are `type(c_ptr)`.

module dtype
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer(c_int32_t), parameter, public :: DTYPE_OK = 0
    integer(c_int32_t), parameter, public :: DTYPE_ERROR_NULL = 1, DTYPE_ERROR_HANDLE = 2, DTYPE_ERROR_ARGUMENT = 4, &
        DTYPE_ERROR_ROOM = 7, DTYPE_ERROR_LENGTH = 8, DTYPE_ERROR_BOUNDS = 9, DTYPE_ERROR_OVERLAP = 10, DTYPE_ERROR_VALUE = 13
    integer(c_size_t), parameter, public :: DTYPE_UNBOUNDED = -1_c_size_t
    integer(c_int32_t), parameter, public :: DTYPE_NATIVE = 0, DTYPE_EXTERNAL32 = 1, DTYPE_LITTLE_ENDIAN = 2, DTYPE_BIG_ENDIAN = 3
    integer(c_int32_t), parameter, public :: DTYPE_ORDER_FORTRAN = 1

    ! The basic datatypes of C's kinds, and those of the default kinds of Fortran.
    integer(c_int32_t), parameter, public :: DTYPE_I8 = 1, DTYPE_I16 = 2, DTYPE_I32 = 3, DTYPE_I64 = 4, DTYPE_F32 = 13, &
        DTYPE_F64 = 14, DTYPE_C32 = 15, DTYPE_C64 = 16, DTYPE_BOOL = 17, DTYPE_C_CHAR = 24, DTYPE_CHARACTER = 42, &
        DTYPE_LOGICAL = 43, DTYPE_INTEGER = 44, DTYPE_REAL = 45, DTYPE_DOUBLE_PRECISION = 46, DTYPE_COMPLEX = 47, &
        DTYPE_DOUBLE_COMPLEX = 48

    public :: dtype_message, dtype_struct, dtype_type_basic, dtype_type_contiguous, dtype_type_vector, dtype_type_hvector, &
        dtype_type_struct, dtype_type_subarray, dtype_type_resized, dtype_type_release, dtype_commit, dtype_commit_as, &
        dtype_committed_release, dtype_packed_size, dtype_pack, dtype_unpack, dtype_packer_new, dtype_packer_pack, &
        dtype_packer_seek, dtype_packer_release, dtype_unpacker_new, dtype_unpacker_unpack, dtype_unpacker_release

    ! The components of a derived type, collected one by one.
    type :: dtype_struct
        private
        integer(c_intptr_t) :: origin = 0
        integer(c_size_t) :: extent = 0
        integer(c_int64_t), allocatable :: lengths(:), places(:)
        integer(c_int32_t), allocatable :: basics(:)
    contains
        procedure :: begin, add, commit
    end type

    interface
        function dtype_last_message() bind(c) result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function
        function c_strlen(text) bind(c, name="strlen") result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function

        function dtype_type_basic(basic, out) bind(c) result(error)
            import :: c_ptr, c_int32_t
            integer(c_int32_t), value :: basic
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_type_contiguous(number, old, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_int64_t
            integer(c_int64_t), value :: number
            type(c_ptr), value :: old
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_type_vector(number, blocklength, stride, old, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_int64_t
            integer(c_int64_t), value :: number, blocklength, stride
            type(c_ptr), value :: old
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_type_hvector(number, blocklength, stride, old, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_int64_t
            integer(c_int64_t), value :: number, blocklength, stride
            type(c_ptr), value :: old
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_type_struct(number, blocklengths, displacements, types, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_int64_t, c_size_t
            integer(c_size_t), value :: number
            integer(c_int64_t), intent(in) :: blocklengths(*), displacements(*)
            type(c_ptr), intent(in) :: types(*)
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_type_subarray(dimensions, sizes, subsizes, starts, order, old, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_int64_t, c_size_t
            integer(c_size_t), value :: dimensions
            integer(c_int64_t), intent(in) :: sizes(*), subsizes(*), starts(*)
            integer(c_int32_t), value :: order
            type(c_ptr), value :: old
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_type_resized(old, lb, extent, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_int64_t
            type(c_ptr), value :: old
            integer(c_int64_t), value :: lb, extent
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        subroutine dtype_type_release(type) bind(c)
            import :: c_ptr
            type(c_ptr), value :: type
        end subroutine

        function dtype_commit(type, out) bind(c) result(error)
            import :: c_ptr, c_int32_t
            type(c_ptr), value :: type
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_commit_as(type, representation, out) bind(c) result(error)
            import :: c_ptr, c_int32_t
            type(c_ptr), value :: type
            integer(c_int32_t), value :: representation
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        subroutine dtype_committed_release(committed) bind(c)
            import :: c_ptr
            type(c_ptr), value :: committed
        end subroutine
        function dtype_packed_size(committed, number, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: committed
            integer(c_size_t), value :: number
            integer(c_size_t), intent(out) :: out
            integer(c_int32_t) :: error
        end function

        function dtype_pack(committed, memory, memory_size, number, out, out_size, packed) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: committed, memory, out
            integer(c_size_t), value :: memory_size, number, out_size
            integer(c_size_t), intent(inout) :: packed
            integer(c_int32_t) :: error
        end function
        function dtype_unpack(committed, packed, packed_size, memory, memory_size, number) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: committed, packed, memory
            integer(c_size_t), value :: packed_size, memory_size, number
            integer(c_int32_t) :: error
        end function

        function dtype_packer_new(committed, memory, memory_size, number, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: committed, memory
            integer(c_size_t), value :: memory_size, number
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_packer_pack(packer, out, out_size, packed) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: packer, out
            integer(c_size_t), value :: out_size
            integer(c_size_t), intent(inout) :: packed
            integer(c_int32_t) :: error
        end function
        function dtype_packer_seek(packer, position) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_int64_t
            type(c_ptr), value :: packer
            integer(c_int64_t), value :: position
            integer(c_int32_t) :: error
        end function
        subroutine dtype_packer_release(packer) bind(c)
            import :: c_ptr
            type(c_ptr), value :: packer
        end subroutine
        function dtype_unpacker_new(committed, memory, memory_size, number, out) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: committed, memory
            integer(c_size_t), value :: memory_size, number
            type(c_ptr), intent(out) :: out
            integer(c_int32_t) :: error
        end function
        function dtype_unpacker_unpack(unpacker, bytes, bytes_size, unpacked) bind(c) result(error)
            import :: c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: unpacker, bytes
            integer(c_size_t), value :: bytes_size
            integer(c_size_t), intent(inout) :: unpacked
            integer(c_int32_t) :: error
        end function
        subroutine dtype_unpacker_release(unpacker) bind(c)
            import :: c_ptr
            type(c_ptr), value :: unpacker
        end subroutine
    end interface

contains

    ! What was found, expected and where, in this thread's last call that failed.
    function dtype_message() result(text)
        character(:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        type(c_ptr) :: last
        integer :: i
        last = dtype_last_message()
        call c_f_pointer(last, bytes, [c_strlen(last)])
        allocate (character(size(bytes)) :: text)
        do i = 1, size(bytes)
            text(i:i) = bytes(i)
        end do
    end function

    ! Begins with a value of the derived type, which has this many bytes. Components are added in the order of the packed bytes.
    subroutine begin(self, origin, extent)
        class(dtype_struct), intent(inout) :: self
        type(c_ptr), intent(in) :: origin
        integer(c_size_t), intent(in) :: extent
        self%origin = transfer(origin, self%origin)
        self%extent = extent
        if (allocated(self%lengths)) deallocate (self%lengths, self%places, self%basics)
        allocate (self%lengths(0), self%places(0), self%basics(0))
    end subroutine

    ! A component of the value, or the first element of one: its address, its number of elements, and what they are.
    subroutine add(self, address, number, basic)
        class(dtype_struct), intent(inout) :: self
        type(c_ptr), intent(in) :: address
        integer, intent(in) :: number
        integer(c_int32_t), intent(in) :: basic
        self%lengths = [self%lengths, int(number, c_int64_t)]
        self%places = [self%places, int(transfer(address, self%origin) - self%origin, c_int64_t)]
        self%basics = [self%basics, basic]
    end subroutine

    ! The committed type of the components; `c_null_ptr` after an error, whose code is `error`.
    function commit(self, representation, error) result(committed)
        class(dtype_struct), intent(in) :: self
        integer(c_int32_t), intent(in), optional :: representation
        integer(c_int32_t), intent(out), optional :: error
        type(c_ptr) :: committed, members(size(self%basics)), fields, whole
        integer(c_int32_t) :: code, form
        integer :: i
        committed = c_null_ptr
        fields = c_null_ptr
        whole = c_null_ptr
        members = c_null_ptr
        form = DTYPE_NATIVE
        if (present(representation)) form = representation
        code = DTYPE_OK
        do i = 1, size(members)
            if (code == DTYPE_OK) code = dtype_type_basic(self%basics(i), members(i))
        end do
        if (code == DTYPE_OK) &
            code = dtype_type_struct(size(members, kind=c_size_t), self%lengths, self%places, members, fields)
        if (code == DTYPE_OK) code = dtype_type_resized(fields, 0_c_int64_t, int(self%extent, c_int64_t), whole)
        if (code == DTYPE_OK) code = dtype_commit_as(whole, form, committed)
        do i = 1, size(members)
            call dtype_type_release(members(i))
        end do
        call dtype_type_release(fields)
        call dtype_type_release(whole)
        if (present(error)) error = code
    end function
end module
