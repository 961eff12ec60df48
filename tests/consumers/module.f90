! A Fortran consumer of the module: generic names in every type, the library's own functions.

! A thread pool of one thread, which counts what it was asked for.
module pool
  use, intrinsic :: iso_c_binding
  implicit none
  abstract interface
    subroutine task_of(arg, i) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: arg
      integer(c_size_t), value :: i
    end subroutine
  end interface
contains
  subroutine one_after_the_other(ctx, n, task, arg) bind(C)
    type(c_ptr), value :: ctx, arg
    integer(c_size_t), value :: n
    type(c_funptr), value :: task
    procedure(task_of), pointer :: call_it
    integer(c_int), pointer :: tasks
    integer(c_size_t) :: i
    call c_f_procpointer(task, call_it)
    call c_f_pointer(ctx, tasks)
    do i = 0, n - 1
      call call_it(arg, i)
      tasks = tasks + 1
    end do
  end subroutine
end module

program consumer
  use, intrinsic :: iso_c_binding
  use corten
  use pool
  implicit none
  real(c_float) :: s(2, 2) = reshape([1., 2., 3., 4.], [2, 2]), cs(2, 2)
  real(c_double) :: d(2, 2), cd(2, 2), v(2)
  complex(c_float_complex) :: c(2, 2), cc(2, 2)
  complex(c_double_complex) :: z(2, 2), cz(2, 2)
  integer(c_int) :: previous
  logical :: good
  type(corten_conv) :: conv
  real(c_float), target :: x(2, 5, 5, 1), w(3, 2, 3, 3), y(3, 5, 5, 1)
  real(c_double), allocatable :: large(:, :), product(:, :)
  integer(c_int), target :: tasks = 0

  d = s
  c = cmplx(s, transpose(s))
  z = c
  call gemm('N', 'N', 2, 2, 2, 1., s, 2, s, 2, 0., cs, 2)
  call gemm('N', 'T', 2, 2, 2, 1d0, d, 2, d, 2, 0d0, cd, 2)
  call gemm('N', 'C', 2, 2, 2, (1., 0.), c, 2, c, 2, (0., 0.), cc, 2)
  call zgemm('C', 'N', 2, 2, 2, (1d0, 0d0), z(1, 1), 2, z(1, 1), 2, (0d0, 0d0), cz(1, 1), 2)
  good = all(cs == matmul(s, s)) .and. all(cd == matmul(d, transpose(d)))
  good = good .and. all(cc == matmul(c, conjg(transpose(c))))
  good = good .and. all(cz == matmul(conjg(transpose(z)), z))

  v = [3d0, -4d0]
  good = good .and. nrm2(2, v, 1) == 5d0 .and. asum(2, v, 1) == 7d0 .and. iamax(2, v, 1) == 2
  good = good .and. dotc(2, z(:, 1), 1, z(:, 2), 1) == sum(conjg(z(:, 1)) * z(:, 2))
  call herk('U', 'N', 2, 2, 1d0, z, 2, 0d0, cz, 2)
  good = good .and. cz(1, 2) == sum(z(1, :) * conjg(z(2, :)))

  ! A large product on threads of our own.
  allocate (large(500, 500), product(500, 500))
  large = 1
  call corten_set_num_threads(2_c_int)
  call corten_set_thread_pool(c_funloc(one_after_the_other), c_loc(tasks))
  call gemm('N', 'N', 500, 500, 500, 1d0, large, 500, large, 500, 0d0, product, 500)
  call corten_set_thread_pool(c_null_funptr, c_null_ptr)
  good = good .and. all(product == 500) .and. tasks >= 2

  call corten_set_num_threads(1_c_int)
  previous = corten_set_num_threads_local(0_c_int)
  good = good .and. corten_get_num_threads() == 1 .and. c_associated(corten_version())

  ! Two channels to three, 3x3, padded: nine taps in the middle, four in a corner.
  call corten_conv_init(conv, 2_c_int)
  conv%layout = corten_channels_last
  conv%weights_layout = corten_hwio
  conv%in_channels = 2
  conv%out_channels = 3
  conv%input(1:2) = 5
  conv%kernel(1:2) = 3
  conv%pad_before(1:2) = 1
  conv%pad_after(1:2) = 1
  x = 1
  w = 2
  good = good .and. corten_conv_forward(conv, c_loc(x), c_loc(w), c_null_ptr, c_loc(y), c_null_ptr, &
      0_c_size_t) == corten_ok
  good = good .and. all(y(:, 3, 3, 1) == 36) .and. all(y(:, 1, 5, 1) == 16)
  conv%groups = 2
  good = good .and. corten_conv_forward(conv, c_loc(x), c_loc(w), c_null_ptr, c_loc(y), c_null_ptr, &
      0_c_size_t) == corten_error_argument
  if (.not. good) error stop 'FAILED'
  print '(a)', 'OK'
end program
