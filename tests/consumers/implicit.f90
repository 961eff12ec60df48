! A Fortran consumer with implicit interfaces: a subroutine, a real and a complex function.
! The complex function is where compilers' conventions differ.
program consumer
  implicit none
  external :: dgemm
  real, external :: sdot
  complex(kind(1d0)), external :: zdotc
  double precision :: a(2, 2) = reshape([1d0, 2d0, 3d0, 4d0], [2, 2]), c(2, 2)
  complex(kind(1d0)) :: x(2) = [(1d0, 2d0), (3d0, -1d0)], y(2) = [(0d0, 1d0), (2d0, 2d0)]
  real :: r(3) = [1., 2., 3.]
  logical :: good

  call dgemm('N', 'T', 2, 2, 2, 1d0, a, 2, a, 2, 0d0, c, 2)
  good = all(c == matmul(a, transpose(a)))
  good = good .and. sdot(3, r, 1, r, 1) == 14.
  good = good .and. zdotc(2, x, 1, y, 1) == sum(conjg(x) * y)
  if (.not. good) error stop 'FAILED'
  print '(a)', 'OK'
end program
