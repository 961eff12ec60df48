! 04_fortran: the two ways to call the BLAS from Fortran.
!
! implicit_way declares nothing, as programs have done for decades; module_way uses the module
! corten, which checks the arguments at compile time and offers gemm for every type.
program fortran_example
  implicit none
  integer, parameter :: n = 200
  double precision, parameter :: tolerance = 1d-12 * n
  double precision :: a(n, n), b(n, n), c(n, n)
  logical :: good

  call random_number(a)
  call random_number(b)

  call implicit_way()
  good = maxval(abs(c - matmul(a, b))) < tolerance
  print '(a, es8.1)', 'implicit dgemm, difference to matmul:', maxval(abs(c - matmul(a, b)))

  call module_way()
  good = good .and. maxval(abs(c - matmul(transpose(a), b))) < tolerance
  print '(a, es8.1)', 'module gemm,    difference to matmul:', &
      maxval(abs(c - matmul(transpose(a), b)))

  if (.not. good) error stop 'FAILED'
  print '(a)', 'OK'

contains

  subroutine implicit_way()
    external :: dgemm
    call dgemm('N', 'N', n, n, n, 1d0, a, n, b, n, 0d0, c, n)
  end subroutine

  subroutine module_way()
    use corten, only: gemm, corten_get_num_threads
    call gemm('T', 'N', n, n, n, 1d0, a, n, b, n, 0d0, c, n)
    print '(a, i0)', 'threads: ', corten_get_num_threads()
  end subroutine

end program
