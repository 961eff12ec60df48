! 08_fortran_allreduce: the collectives from Fortran.
!
!   corten-run -np 3 ./08_fortran_allreduce
!
! A blocking average, a sum in memory that all ranks have mapped, and a named tensor that is summed
! while the program goes on.
program fortran_allreduce
  use, intrinsic :: iso_c_binding
  use corten
  implicit none
  integer, parameter :: n = 1000
  real(c_float), target :: gradient(n), update(n)
  real(c_double), pointer :: shared(:)
  integer(c_size_t), target :: counts(1000)
  integer(c_int), target :: all_ranks(1000)
  integer(c_int), target :: me(1)
  type(c_ptr) :: memory
  integer(c_int64_t) :: handle
  integer :: rank, size, i

  call must(corten_init(), 'corten_init')
  rank = corten_rank()
  size = corten_size()

  ! The average of rank + i over all ranks
  gradient = [(real(rank + i, c_float), i = 1, n)]
  call must(corten_allreduce(c_loc(gradient), c_loc(gradient), int(n, c_size_t), corten_f32, &
      corten_average, 1d0, 1d0, corten_all), 'corten_allreduce')
  if (any(gradient /= [((size - 1) / 2.0 + i, i = 1, n)])) error stop 'FAILED: average'

  ! In memory of corten_alloc nothing is copied
  memory = corten_alloc(int(8 * n, c_size_t))
  if (.not. c_associated(memory)) call must(corten_error_system, 'corten_alloc')
  call c_f_pointer(memory, shared, [n])
  shared = 1
  call must(corten_allreduce(memory, memory, int(n, c_size_t), corten_f64, corten_sum, 1d0, 0.5d0, &
      corten_all), 'corten_allreduce')
  if (any(shared /= 0.5d0 * size)) error stop 'FAILED: sum'
  call must(corten_barrier(corten_all), 'corten_barrier')
  call must(corten_free(memory), 'corten_free')

  ! Asynchronous: the buffer is the operation's until corten_wait
  update = real(rank + 1)
  call must(corten_allreduce_async('update' // c_null_char, c_loc(update), c_loc(update), &
      int(n, c_size_t), corten_f32, corten_max, 1d0, 1d0, corten_all, handle), 'corten_allreduce_async')
  me = rank
  call must(corten_allgather(c_loc(me), 1_c_size_t, c_loc(all_ranks), 1000_c_size_t, c_loc(counts), &
      corten_i32, corten_all), 'corten_allgather')
  if (any(all_ranks(:size) /= [(i, i = 0, size - 1)]) .or. any(counts(:size) /= 1)) error stop 'FAILED: gather'
  call must(corten_wait(handle, -1d0), 'corten_wait')
  if (any(update /= real(size))) error stop 'FAILED: maximum'

  call must(corten_shutdown(), 'corten_shutdown')
  if (rank == 0) print '(a, i0, a)', 'OK, ', size, ' ranks'

contains

  ! Ends the program with the library's text unless the status is corten_ok.
  subroutine must(status, what)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: what
    character(kind=c_char), pointer :: text(:)
    integer :: k
    if (status == corten_ok) return
    call c_f_pointer(corten_last_error(), text, [1000])
    do k = 1, 1000
      if (text(k) == c_null_char) exit
    end do
    print *, what, ': ', text(:k - 1)
    error stop 'FAILED'
  end subroutine

end program
