! Two ranks share a grid of three dimensions, and exchange the faces where they meet: planes across the slowest, the middle and
! the fastest dimension, as vectors.
!
!     mpif90 halo.f90 -o halo
!     mpirun -n 2 ./halo
!     LD_PRELOAD=target/release/libdtype_preload.so DTYPE_PRELOAD=stats mpirun -n 2 ./halo
program halo
    use mpi
    implicit none
    integer, parameter :: n = 48, rounds = 50
    real(8) :: grid(n, n, n), expected
    integer :: faces(3), column, sizes(3), parts(3), starts(3)
    integer :: rank, other, ierror, face, round, i, j, wrong
    integer :: status(MPI_STATUS_SIZE)
    character(5) :: verdict

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    other = 1 - rank

    ! x is the fastest: its face is single values.
    call MPI_Type_vector(n, 1, n, MPI_REAL8, column, ierror)
    call MPI_Type_create_hvector(n, 1, int(8 * n * n, MPI_ADDRESS_KIND), column, faces(1), ierror)
    call MPI_Type_free(column, ierror)
    call MPI_Type_vector(n, n, n * n, MPI_REAL8, faces(2), ierror)
    sizes = n
    parts = [n, n, 1]
    starts = 0
    call MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_REAL8, faces(3), ierror)
    do face = 1, 3
        call MPI_Type_commit(faces(face), ierror)
    end do

    grid = rank + 1
    do round = 1, rounds
        ! The last plane of one rank becomes the first plane of the other.
        call MPI_Sendrecv(grid(n, 1, 1), 1, faces(1), other, 1, grid(1, 1, 1), 1, faces(1), other, 1, &
                          MPI_COMM_WORLD, status, ierror)
        call MPI_Sendrecv(grid(1, n, 1), 1, faces(2), other, 2, grid(1, 1, 1), 1, faces(2), other, 2, &
                          MPI_COMM_WORLD, status, ierror)
        call MPI_Sendrecv(grid(1, 1, n), 1, faces(3), other, 3, grid(1, 1, 1), 1, faces(3), other, 3, &
                          MPI_COMM_WORLD, status, ierror)
    end do

    expected = other + 1
    wrong = 0
    do j = 2, n - 1
        do i = 2, n - 1
            if (grid(1, i, j) /= expected) wrong = wrong + 1
            if (grid(i, 1, j) /= expected) wrong = wrong + 1
            if (grid(i, j, 1) /= expected) wrong = wrong + 1
            if (grid(i, j, 2) /= rank + 1) wrong = wrong + 1
        end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    verdict = merge('right', 'WRONG', wrong == 0)
    if (rank == 0) print '(a)', 'three faces, '//verdict
    do face = 1, 3
        call MPI_Type_free(faces(face), ierror)
    end do
    call MPI_Finalize(ierror)
    if (wrong /= 0) stop 1
end program halo
