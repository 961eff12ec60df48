! Corten for Fortran: explicit interfaces, so that the compiler checks the arguments of a BLAS call,
! and the library's own C functions.
!
! It is shipped as source because a .mod file belongs to one compiler: compile this file into the
! project (it holds interfaces only, so its object file is empty and need not be linked). A program
! may also call the BLAS with implicit interfaces, as ever, and not use this module.
!
! Each BLAS routine is here under its own name (dgemm) and under a generic one (gemm) that chooses
! by the type of the arguments. The generic one takes whole arrays, the specific one also a(i, j).
! Integers are 32-bit (LP64). To take only some names: use corten, only: gemm.
module corten
  use, intrinsic :: iso_c_binding, only: c_int, c_float, c_double, c_float_complex, &
      c_double_complex, c_ptr, c_funptr, c_int32_t, c_int64_t, c_size_t, c_char
  implicit none
  private :: c_int, c_float, c_double, c_float_complex, c_double_complex, c_ptr, c_funptr
  private :: c_int32_t, c_int64_t, c_size_t, c_char
  public

  ! ---- The library itself --------------------------------------------------------------------
  ! Strings come back as C pointers to text that lives as long as the program.
  interface
    ! Version, e.g. "0.1.0"
    function corten_version() bind(C, name="corten_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    ! What the library is and how it runs: version, instruction set, threads
    function corten_get_config() bind(C, name="corten_get_config") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    ! The instruction set in use: generic, avx2, avx512
    function corten_get_isa() bind(C, name="corten_get_isa") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    ! Threads a large call may use
    function corten_get_num_threads() bind(C, name="corten_get_num_threads") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    subroutine corten_set_num_threads(n) bind(C, name="corten_set_num_threads")
      import :: c_int
      integer(c_int), value :: n
    end subroutine

    ! For calls from this thread only; 0 follows the global number. Returns the previous value.
    function corten_set_num_threads_local(n) bind(C, name="corten_set_num_threads_local") &
        result(previous)
      import :: c_int
      integer(c_int), value :: n
      integer(c_int) :: previous
    end function

    ! Cores this process may run on
    function corten_get_num_procs() bind(C, name="corten_get_num_procs") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    ! parallel_for: c_funloc of a bind(C) subroutine (ctx: c_ptr, n: c_size_t, task: c_funptr, arg: c_ptr, all by
    ! value) that calls task(arg, i), both by value, for i from 0 to n-1, on any threads, and returns when all have;
    ! c_null_funptr takes the library's own threads again. ctx is handed through.
    subroutine corten_set_thread_pool(parallel_for, ctx) bind(C, name="corten_set_thread_pool")
      import :: c_funptr, c_ptr
      type(c_funptr), value :: parallel_for
      type(c_ptr), value :: ctx
    end subroutine

    ! handler: c_funloc of a bind(C) subroutine (name: const char *, info: int by value);
    ! c_null_funptr restores the default, which prints and returns
    subroutine corten_set_xerbla(handler) bind(C, name="corten_set_xerbla")
      import :: c_funptr
      type(c_funptr), value :: handler
    end subroutine
  end interface

  ! ---- Convolution ---------------------------------------------------------------------------
  ! The struct of corten.h, which says what each field means; corten_conv_init fills in defaults.
  ! Tensors are C pointers: c_loc of the first element, or c_null_ptr. A status of 0 is success;
  ! corten_last_error says what else was wrong. Fortran's first index is C's last: an image
  ! declared (channels, width, height, batch) is channels-last.
  type, bind(C) :: corten_conv
    integer(c_size_t) :: struct_size
    integer(c_int32_t) :: data_type, dims, layout, weights_layout, transposed, math, activation
    real(c_float) :: slope, beta
    integer(c_int32_t) :: reserved
    integer(c_int64_t) :: batch, groups, in_channels, out_channels
    integer(c_int64_t) :: input(3), output(3), kernel(3), stride(3), dilation(3)
    integer(c_int64_t) :: pad_before(3), pad_after(3)
  end type

  integer(c_int32_t), parameter :: corten_channels_first = 0, corten_channels_last = 1
  integer(c_int32_t), parameter :: corten_oihw = 0, corten_hwio = 1, corten_ohwi = 2
  integer(c_int32_t), parameter :: corten_no_activation = 0, corten_relu = 1, corten_leaky_relu = 2
  integer(c_int32_t), parameter :: corten_math_unset = 0, corten_math_default = 1, corten_math_strict = 2
  integer(c_int), parameter :: corten_pass_forward = 0, corten_pass_backward_data = 1, &
      corten_pass_backward_weights = 2
  integer(c_int), parameter :: corten_ok = 0, corten_error_argument = 1, corten_error_unsupported = 7, &
      corten_error_no_memory = 8

  interface
    ! What was wrong with this thread's last call that failed
    function corten_last_error() bind(C, name="corten_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    subroutine corten_conv_init(conv, dims) bind(C, name="corten_conv_init")
      import :: corten_conv, c_int
      type(corten_conv), intent(out) :: conv
      integer(c_int), value :: dims
    end subroutine

    ! Checks a problem and gives the size of its output
    function corten_conv_output_size(conv, output) &
        bind(C, name="corten_conv_output_size") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(corten_conv), intent(in) :: conv
      integer(c_int64_t), intent(out) :: output(3)
      integer(c_int) :: status
    end function

    ! y := act(conv(x, weights) + bias + beta*y); bias and workspace may be c_null_ptr
    function corten_conv_forward(conv, x, weights, bias, y, workspace, workspace_bytes) &
        bind(C, name="corten_conv_forward") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(corten_conv), intent(in) :: conv
      type(c_ptr), value :: x, weights, bias, y, workspace
      integer(c_size_t), value :: workspace_bytes
      integer(c_int) :: status
    end function

    ! dx := gradient of the input + beta*dx
    function corten_conv_backward_data(conv, weights, dy, dx, workspace, workspace_bytes) &
        bind(C, name="corten_conv_backward_data") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(corten_conv), intent(in) :: conv
      type(c_ptr), value :: weights, dy, dx, workspace
      integer(c_size_t), value :: workspace_bytes
      integer(c_int) :: status
    end function

    ! dweights, dbias := their gradients + beta times what they were; dbias may be c_null_ptr
    function corten_conv_backward_weights(conv, x, dy, dweights, dbias, workspace, workspace_bytes) &
        bind(C, name="corten_conv_backward_weights") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(corten_conv), intent(in) :: conv
      type(c_ptr), value :: x, dy, dweights, dbias, workspace
      integer(c_size_t), value :: workspace_bytes
      integer(c_int) :: status
    end function

    ! Bytes of workspace for those who bring their own
    function corten_conv_workspace_size(conv, pass, workspace_bytes) &
        bind(C, name="corten_conv_workspace_size") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(corten_conv), intent(in) :: conv
      integer(c_int), value :: pass
      integer(c_size_t), intent(out) :: workspace_bytes
      integer(c_int) :: status
    end function

    ! Which algorithm and kernel a problem gets, and why: a text that ends with a zero byte
    function corten_conv_explain(conv, pass, text, text_bytes) &
        bind(C, name="corten_conv_explain") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(corten_conv), intent(in) :: conv
      integer(c_int), value :: pass
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: text_bytes
      integer(c_int) :: status
    end function

    ! A plan for calls again and again; weights may be c_null_ptr, else it keeps them
    function corten_conv_plan_create(conv, pass, weights, plan) &
        bind(C, name="corten_conv_plan_create") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(corten_conv), intent(in) :: conv
      integer(c_int), value :: pass
      type(c_ptr), value :: weights
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: status
    end function

    ! Replaces the weights that a plan keeps
    function corten_conv_plan_set_weights(plan, weights) &
        bind(C, name="corten_conv_plan_set_weights") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(c_ptr), value :: plan, weights
      integer(c_int) :: status
    end function

    ! The passes by a plan
    function corten_conv_plan_forward(plan, x, weights, bias, y, workspace, workspace_bytes) &
        bind(C, name="corten_conv_plan_forward") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(c_ptr), value :: plan, x, weights, bias, y, workspace
      integer(c_size_t), value :: workspace_bytes
      integer(c_int) :: status
    end function

    function corten_conv_plan_backward_data(plan, weights, dy, dx, workspace, workspace_bytes) &
        bind(C, name="corten_conv_plan_backward_data") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(c_ptr), value :: plan, weights, dy, dx, workspace
      integer(c_size_t), value :: workspace_bytes
      integer(c_int) :: status
    end function

    function corten_conv_plan_backward_weights(plan, x, dy, dweights, dbias, workspace, workspace_bytes) &
        bind(C, name="corten_conv_plan_backward_weights") result(status)
      import :: corten_conv, c_int, c_ptr, c_size_t, c_int64_t, c_char
      type(c_ptr), value :: plan, x, dy, dweights, dbias, workspace
      integer(c_size_t), value :: workspace_bytes
      integer(c_int) :: status
    end function

    function corten_conv_plan_memory(plan) bind(C, name="corten_conv_plan_memory") result(bytes)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t) :: bytes
    end function

    subroutine corten_conv_plan_destroy(plan) bind(C, name="corten_conv_plan_destroy")
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine

    ! The default math mode: corten_math_default or corten_math_strict
    function corten_conv_set_math(math) bind(C, name="corten_conv_set_math") result(status)
      import :: c_int
      integer(c_int), value :: math
      integer(c_int) :: status
    end function
  end interface

  ! ---- Collectives ---------------------------------------------------------------------------
  ! The functions of corten.h, which says what each does. Buffers are C pointers: c_loc of the first
  ! element. A status of 0 (corten_ok) is success; corten_last_error says what else was wrong. Names
  ! of tensors end with c_null_char. Numbers of ranks count from 0, as in C.
  integer(c_int), parameter :: corten_pending = -1
  integer(c_int), parameter :: corten_error_state = 2, corten_error_mismatch = 3, corten_error_peer = 4, &
      corten_error_timeout = 5, corten_error_system = 6
  integer(c_int), parameter :: corten_f32 = 0, corten_f64 = 1, corten_bf16 = 2, corten_f16 = 3, &
      corten_i8 = 4, corten_u8 = 5, corten_i32 = 6, corten_i64 = 7
  integer(c_int), parameter :: corten_sum = 0, corten_average = 1, corten_min = 2, corten_max = 3, &
      corten_product = 4, corten_adasum = 5, corten_wire_bf16 = 256, corten_wire_f16 = 512
  integer(c_int), parameter :: corten_all = 0

  interface
    ! Joins the other ranks; all ranks call it
    function corten_init() bind(C, name="corten_init") result(status)
      import :: c_int
      integer(c_int) :: status
    end function

    function corten_shutdown() bind(C, name="corten_shutdown") result(status)
      import :: c_int
      integer(c_int) :: status
    end function

    function corten_is_initialized() bind(C, name="corten_is_initialized") result(yes)
      import :: c_int
      integer(c_int) :: yes
    end function

    ! This process among all ranks, and how many there are; of its machine; of the machines.
    ! -1 if not initialised
    function corten_rank() bind(C, name="corten_rank") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    function corten_size() bind(C, name="corten_size") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    function corten_local_rank() bind(C, name="corten_local_rank") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    function corten_local_size() bind(C, name="corten_local_size") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    function corten_cross_rank() bind(C, name="corten_cross_rank") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    function corten_cross_size() bind(C, name="corten_cross_size") result(n)
      import :: c_int
      integer(c_int) :: n
    end function

    ! out := postscale * (prescale*in of rank 0 op ...); in and out the same or apart
    function corten_allreduce(in, out, count, type, op, prescale, postscale, set) &
        bind(C, name="corten_allreduce") result(status)
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: in, out
      integer(c_size_t), value :: count
      integer(c_int), value :: type, op, set
      real(c_double), value :: prescale, postscale
      integer(c_int) :: status
    end function

    ! n tensors at once: arrays of C pointers and of counts
    function corten_grouped_allreduce(n, in, out, counts, type, op, prescale, postscale, set) &
        bind(C, name="corten_grouped_allreduce") result(status)
      import :: c_double, c_int, c_ptr, c_size_t
      integer(c_size_t), value :: n
      type(c_ptr), intent(in) :: in(*), out(*)
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int), value :: type, op, set
      real(c_double), value :: prescale, postscale
      integer(c_int) :: status
    end function

    ! counts: c_loc of an array that gets the number of elements of each rank, or c_null_ptr
    function corten_allgather(in, count, out, room, counts, type, set) &
        bind(C, name="corten_allgather") result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: in, out, counts
      integer(c_size_t), value :: count, room
      integer(c_int), value :: type, set
      integer(c_int) :: status
    end function

    function corten_broadcast(buffer, count, type, root, set) &
        bind(C, name="corten_broadcast") result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: count
      integer(c_int), value :: type, root, set
      integer(c_int) :: status
    end function

    ! recv_counts: c_loc of an array that gets what came from each rank, or c_null_ptr
    function corten_alltoall(in, send_counts, out, room, recv_counts, type, set) &
        bind(C, name="corten_alltoall") result(status)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: in, out, recv_counts
      integer(c_size_t), intent(in) :: send_counts(*)
      integer(c_size_t), value :: room
      integer(c_int), value :: type, set
      integer(c_int) :: status
    end function

    ! counts: c_loc of the blocks of all ranks, or c_null_ptr for an even cut
    function corten_reducescatter(in, out, count, counts, type, op, prescale, postscale, set) &
        bind(C, name="corten_reducescatter") result(status)
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: in, out, counts
      integer(c_size_t), value :: count
      integer(c_int), value :: type, op, set
      real(c_double), value :: prescale, postscale
      integer(c_int) :: status
    end function

    function corten_barrier(set) bind(C, name="corten_barrier") result(status)
      import :: c_int
      integer(c_int), value :: set
      integer(c_int) :: status
    end function

    ! For a rank that has no more data
    function corten_join(last_rank) bind(C, name="corten_join") result(status)
      import :: c_int
      integer(c_int), intent(out) :: last_rank
      integer(c_int) :: status
    end function

    ! Asynchronous: buffers (and arrays of counts) belong to the operation until corten_wait
    function corten_allreduce_async(name, in, out, count, type, op, prescale, postscale, set, &
        handle) &
        bind(C, name="corten_allreduce_async") result(status)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: in, out
      integer(c_size_t), value :: count
      integer(c_int), value :: type, op, set
      real(c_double), value :: prescale, postscale
      integer(c_int64_t), intent(out) :: handle
      integer(c_int) :: status
    end function

    function corten_grouped_allreduce_async(name, n, in, out, counts, type, op, prescale, &
        postscale, set, handle) &
        bind(C, name="corten_grouped_allreduce_async") result(status)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: n
      type(c_ptr), intent(in) :: in(*), out(*)
      integer(c_size_t), intent(in) :: counts(*)
      integer(c_int), value :: type, op, set
      real(c_double), value :: prescale, postscale
      integer(c_int64_t), intent(out) :: handle
      integer(c_int) :: status
    end function

    function corten_allgather_async(name, in, count, out, room, counts, type, set, handle) &
        bind(C, name="corten_allgather_async") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: in, out, counts
      integer(c_size_t), value :: count, room
      integer(c_int), value :: type, set
      integer(c_int64_t), intent(out) :: handle
      integer(c_int) :: status
    end function

    function corten_broadcast_async(name, buffer, count, type, root, set, handle) &
        bind(C, name="corten_broadcast_async") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: buffer
      integer(c_size_t), value :: count
      integer(c_int), value :: type, root, set
      integer(c_int64_t), intent(out) :: handle
      integer(c_int) :: status
    end function

    function corten_alltoall_async(name, in, send_counts, out, room, recv_counts, type, set, &
        handle) &
        bind(C, name="corten_alltoall_async") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: in, out, recv_counts
      integer(c_size_t), intent(in) :: send_counts(*)
      integer(c_size_t), value :: room
      integer(c_int), value :: type, set
      integer(c_int64_t), intent(out) :: handle
      integer(c_int) :: status
    end function

    function corten_reducescatter_async(name, in, out, count, counts, type, op, prescale, &
        postscale, set, handle) &
        bind(C, name="corten_reducescatter_async") result(status)
      import :: c_char, c_double, c_int, c_int64_t, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: in, out, counts
      integer(c_size_t), value :: count
      integer(c_int), value :: type, op, set
      real(c_double), value :: prescale, postscale
      integer(c_int64_t), intent(out) :: handle
      integer(c_int) :: status
    end function

    ! 1: done, well or not; 0: not yet; -1: no such handle
    function corten_poll(handle) bind(C, name="corten_poll") result(done)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: handle
      integer(c_int) :: done
    end function

    ! Waits for at most so many seconds, for ever if negative, and gives the outcome; corten_pending if
    ! it is not done by then, which is no error, and the handle stays
    function corten_wait(handle, seconds) bind(C, name="corten_wait") result(status)
      import :: c_double, c_int, c_int64_t
      integer(c_int64_t), value :: handle
      real(c_double), value :: seconds
      integer(c_int) :: status
    end function

    ! Memory that other ranks reach directly (c_f_pointer makes an array of it); c_null_ptr if there is none
    function corten_alloc(bytes) bind(C, name="corten_alloc") result(memory)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
      type(c_ptr) :: memory
    end function

    function corten_free(memory) bind(C, name="corten_free") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: memory
      integer(c_int) :: status
    end function

    ! Process sets: called by all ranks, members or not
    function corten_process_set_add(ranks, n, set) &
        bind(C, name="corten_process_set_add") result(status)
      import :: c_int
      integer(c_int), intent(in) :: ranks(*)
      integer(c_int), value :: n
      integer(c_int), intent(out) :: set
      integer(c_int) :: status
    end function

    function corten_process_set_remove(set) bind(C, name="corten_process_set_remove") result(status)
      import :: c_int
      integer(c_int), value :: set
      integer(c_int) :: status
    end function

    function corten_process_set_rank(set) bind(C, name="corten_process_set_rank") result(n)
      import :: c_int
      integer(c_int), value :: set
      integer(c_int) :: n
    end function

    function corten_process_set_size(set) bind(C, name="corten_process_set_size") result(n)
      import :: c_int
      integer(c_int), value :: set
      integer(c_int) :: n
    end function
  end interface

  ! ---- Level 1: vectors ------------------------------------------------------------

  ! x <-> y
  interface swap
    subroutine sswap(n, x, incx, y, incy)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_float), intent(inout) :: x(*), y(*)
    end subroutine
    subroutine dswap(n, x, incx, y, incy)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_double), intent(inout) :: x(*), y(*)
    end subroutine
    subroutine cswap(n, x, incx, y, incy)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_float_complex), intent(inout) :: x(*), y(*)
    end subroutine
    subroutine zswap(n, x, incx, y, incy)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_double_complex), intent(inout) :: x(*), y(*)
    end subroutine
  end interface

  ! y := x
  interface copy
    subroutine scopy(n, x, incx, y, incy)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end subroutine
    subroutine dcopy(n, x, incx, y, incy)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end subroutine
    subroutine ccopy(n, x, incx, y, incy)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_float_complex), intent(in) :: x(*)
      complex(c_float_complex), intent(inout) :: y(*)
    end subroutine
    subroutine zcopy(n, x, incx, y, incy)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_double_complex), intent(in) :: x(*)
      complex(c_double_complex), intent(inout) :: y(*)
    end subroutine
  end interface

  ! y := alpha*x + y
  interface axpy
    subroutine saxpy(n, alpha, x, incx, y, incy)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_float), intent(in) :: alpha
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end subroutine
    subroutine daxpy(n, alpha, x, incx, y, incy)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_double), intent(in) :: alpha
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end subroutine
    subroutine caxpy(n, alpha, x, incx, y, incy)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: x(*)
      complex(c_float_complex), intent(inout) :: y(*)
    end subroutine
    subroutine zaxpy(n, alpha, x, incx, y, incy)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: x(*)
      complex(c_double_complex), intent(inout) :: y(*)
    end subroutine
  end interface

  ! y := alpha*x + beta*y
  interface axpby
    subroutine saxpby(n, alpha, x, incx, beta, y, incy)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end subroutine
    subroutine daxpby(n, alpha, x, incx, beta, y, incy)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end subroutine
    subroutine caxpby(n, alpha, x, incx, beta, y, incy)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: x(*)
      complex(c_float_complex), intent(inout) :: y(*)
    end subroutine
    subroutine zaxpby(n, alpha, x, incx, beta, y, incy)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: x(*)
      complex(c_double_complex), intent(inout) :: y(*)
    end subroutine
  end interface

  ! x := alpha*x; alpha may be real for complex x
  interface scal
    subroutine sscal(n, alpha, x, incx)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_float), intent(in) :: alpha
      real(c_float), intent(inout) :: x(*)
    end subroutine
    subroutine dscal(n, alpha, x, incx)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_double), intent(in) :: alpha
      real(c_double), intent(inout) :: x(*)
    end subroutine
    subroutine cscal(n, alpha, x, incx)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(inout) :: x(*)
    end subroutine
    subroutine zscal(n, alpha, x, incx)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(inout) :: x(*)
    end subroutine
    subroutine csscal(n, alpha, x, incx)
      import :: c_float, c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_float), intent(in) :: alpha
      complex(c_float_complex), intent(inout) :: x(*)
    end subroutine
    subroutine zdscal(n, alpha, x, incx)
      import :: c_double, c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_double), intent(in) :: alpha
      complex(c_double_complex), intent(inout) :: x(*)
    end subroutine
  end interface

  ! Plane rotation with cosine co and sine si, both real
  interface rot
    subroutine srot(n, x, incx, y, incy, co, si)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_float), intent(in) :: co
      real(c_float), intent(in) :: si
      real(c_float), intent(inout) :: x(*), y(*)
    end subroutine
    subroutine drot(n, x, incx, y, incy, co, si)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_double), intent(in) :: co
      real(c_double), intent(in) :: si
      real(c_double), intent(inout) :: x(*), y(*)
    end subroutine
    subroutine csrot(n, x, incx, y, incy, co, si)
      import :: c_float, c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_float), intent(in) :: co
      real(c_float), intent(in) :: si
      complex(c_float_complex), intent(inout) :: x(*), y(*)
    end subroutine
    subroutine zdrot(n, x, incx, y, incy, co, si)
      import :: c_double, c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_double), intent(in) :: co
      real(c_double), intent(in) :: si
      complex(c_double_complex), intent(inout) :: x(*), y(*)
    end subroutine
  end interface

  ! x^T y, real
  interface dot
    function sdot(n, x, incx, y, incy) result(r)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_float), intent(in) :: x(*), y(*)
      real(c_float) :: r
    end function
    function ddot(n, x, incx, y, incy) result(r)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx, incy
      real(c_double), intent(in) :: x(*), y(*)
      real(c_double) :: r
    end function
  end interface

  ! x^T y, complex
  interface dotu
    function cdotu(n, x, incx, y, incy) result(r)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_float_complex), intent(in) :: x(*), y(*)
      complex(c_float_complex) :: r
    end function
    function zdotu(n, x, incx, y, incy) result(r)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_double_complex), intent(in) :: x(*), y(*)
      complex(c_double_complex) :: r
    end function
  end interface

  ! x^H y, complex
  interface dotc
    function cdotc(n, x, incx, y, incy) result(r)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_float_complex), intent(in) :: x(*), y(*)
      complex(c_float_complex) :: r
    end function
    function zdotc(n, x, incx, y, incy) result(r)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx, incy
      complex(c_double_complex), intent(in) :: x(*), y(*)
      complex(c_double_complex) :: r
    end function
  end interface

  ! Euclidean norm
  interface nrm2
    function snrm2(n, x, incx) result(r)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_float), intent(in) :: x(*)
      real(c_float) :: r
    end function
    function dnrm2(n, x, incx) result(r)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_double), intent(in) :: x(*)
      real(c_double) :: r
    end function
    function scnrm2(n, x, incx) result(r)
      import :: c_float, c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_float_complex), intent(in) :: x(*)
      real(c_float) :: r
    end function
    function dznrm2(n, x, incx) result(r)
      import :: c_double, c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_double_complex), intent(in) :: x(*)
      real(c_double) :: r
    end function
  end interface

  ! Sum of |re| + |im|
  interface asum
    function sasum(n, x, incx) result(r)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_float), intent(in) :: x(*)
      real(c_float) :: r
    end function
    function dasum(n, x, incx) result(r)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_double), intent(in) :: x(*)
      real(c_double) :: r
    end function
    function scasum(n, x, incx) result(r)
      import :: c_float, c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_float_complex), intent(in) :: x(*)
      real(c_float) :: r
    end function
    function dzasum(n, x, incx) result(r)
      import :: c_double, c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_double_complex), intent(in) :: x(*)
      real(c_double) :: r
    end function
  end interface

  ! Index, from 1, of the first element of largest |re| + |im|
  interface iamax
    function isamax(n, x, incx) result(r)
      import :: c_float, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_float), intent(in) :: x(*)
      integer(c_int) :: r
    end function
    function idamax(n, x, incx) result(r)
      import :: c_double, c_int
      integer(c_int), intent(in) :: n, incx
      real(c_double), intent(in) :: x(*)
      integer(c_int) :: r
    end function
    function icamax(n, x, incx) result(r)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_float_complex), intent(in) :: x(*)
      integer(c_int) :: r
    end function
    function izamax(n, x, incx) result(r)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: n, incx
      complex(c_double_complex), intent(in) :: x(*)
      integer(c_int) :: r
    end function
  end interface

  ! ---- Level 2: matrix and vector --------------------------------------------------

  ! y := alpha*op(A)*x + beta*y
  interface gemv
    subroutine sgemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_float, c_int
      character(1), intent(in) :: trans
      integer(c_int), intent(in) :: m, n, lda, incx, incy
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(lda, *), x(*)
      real(c_float), intent(inout) :: y(*)
    end subroutine
    subroutine dgemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_double, c_int
      character(1), intent(in) :: trans
      integer(c_int), intent(in) :: m, n, lda, incx, incy
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(lda, *), x(*)
      real(c_double), intent(inout) :: y(*)
    end subroutine
    subroutine cgemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_float_complex, c_int
      character(1), intent(in) :: trans
      integer(c_int), intent(in) :: m, n, lda, incx, incy
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *), x(*)
      complex(c_float_complex), intent(inout) :: y(*)
    end subroutine
    subroutine zgemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_double_complex, c_int
      character(1), intent(in) :: trans
      integer(c_int), intent(in) :: m, n, lda, incx, incy
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *), x(*)
      complex(c_double_complex), intent(inout) :: y(*)
    end subroutine
  end interface

  ! y := alpha*A*x + beta*y, A symmetric
  interface symv
    subroutine ssymv(uplo, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_float, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, lda, incx, incy
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(lda, *), x(*)
      real(c_float), intent(inout) :: y(*)
    end subroutine
    subroutine dsymv(uplo, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_double, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, lda, incx, incy
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(lda, *), x(*)
      real(c_double), intent(inout) :: y(*)
    end subroutine
  end interface

  ! y := alpha*A*x + beta*y, A Hermitian
  interface hemv
    subroutine chemv(uplo, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_float_complex, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, lda, incx, incy
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *), x(*)
      complex(c_float_complex), intent(inout) :: y(*)
    end subroutine
    subroutine zhemv(uplo, n, alpha, a, lda, x, incx, beta, y, incy)
      import :: c_double_complex, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, lda, incx, incy
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *), x(*)
      complex(c_double_complex), intent(inout) :: y(*)
    end subroutine
  end interface

  ! x := op(A)*x, A triangular
  interface trmv
    subroutine strmv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_float, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      real(c_float), intent(in) :: a(lda, *)
      real(c_float), intent(inout) :: x(*)
    end subroutine
    subroutine dtrmv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_double, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      real(c_double), intent(in) :: a(lda, *)
      real(c_double), intent(inout) :: x(*)
    end subroutine
    subroutine ctrmv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_float_complex, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      complex(c_float_complex), intent(in) :: a(lda, *)
      complex(c_float_complex), intent(inout) :: x(*)
    end subroutine
    subroutine ztrmv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_double_complex, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      complex(c_double_complex), intent(in) :: a(lda, *)
      complex(c_double_complex), intent(inout) :: x(*)
    end subroutine
  end interface

  ! x := inv(op(A))*x, A triangular
  interface trsv
    subroutine strsv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_float, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      real(c_float), intent(in) :: a(lda, *)
      real(c_float), intent(inout) :: x(*)
    end subroutine
    subroutine dtrsv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_double, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      real(c_double), intent(in) :: a(lda, *)
      real(c_double), intent(inout) :: x(*)
    end subroutine
    subroutine ctrsv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_float_complex, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      complex(c_float_complex), intent(in) :: a(lda, *)
      complex(c_float_complex), intent(inout) :: x(*)
    end subroutine
    subroutine ztrsv(uplo, trans, diag, n, a, lda, x, incx)
      import :: c_double_complex, c_int
      character(1), intent(in) :: uplo, trans, diag
      integer(c_int), intent(in) :: n, lda, incx
      complex(c_double_complex), intent(in) :: a(lda, *)
      complex(c_double_complex), intent(inout) :: x(*)
    end subroutine
  end interface

  ! A := alpha*x*y^T + A, real
  interface ger
    subroutine sger(m, n, alpha, x, incx, y, incy, a, lda)
      import :: c_float, c_int
      integer(c_int), intent(in) :: m, n, incx, incy, lda
      real(c_float), intent(in) :: alpha
      real(c_float), intent(in) :: x(*), y(*)
      real(c_float), intent(inout) :: a(lda, *)
    end subroutine
    subroutine dger(m, n, alpha, x, incx, y, incy, a, lda)
      import :: c_double, c_int
      integer(c_int), intent(in) :: m, n, incx, incy, lda
      real(c_double), intent(in) :: alpha
      real(c_double), intent(in) :: x(*), y(*)
      real(c_double), intent(inout) :: a(lda, *)
    end subroutine
  end interface

  ! A := alpha*x*y^T + A, complex
  interface geru
    subroutine cgeru(m, n, alpha, x, incx, y, incy, a, lda)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: m, n, incx, incy, lda
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: x(*), y(*)
      complex(c_float_complex), intent(inout) :: a(lda, *)
    end subroutine
    subroutine zgeru(m, n, alpha, x, incx, y, incy, a, lda)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: m, n, incx, incy, lda
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: x(*), y(*)
      complex(c_double_complex), intent(inout) :: a(lda, *)
    end subroutine
  end interface

  ! A := alpha*x*y^H + A, complex
  interface gerc
    subroutine cgerc(m, n, alpha, x, incx, y, incy, a, lda)
      import :: c_float_complex, c_int
      integer(c_int), intent(in) :: m, n, incx, incy, lda
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: x(*), y(*)
      complex(c_float_complex), intent(inout) :: a(lda, *)
    end subroutine
    subroutine zgerc(m, n, alpha, x, incx, y, incy, a, lda)
      import :: c_double_complex, c_int
      integer(c_int), intent(in) :: m, n, incx, incy, lda
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: x(*), y(*)
      complex(c_double_complex), intent(inout) :: a(lda, *)
    end subroutine
  end interface

  ! A := alpha*x*x^T + A, A symmetric
  interface syr
    subroutine ssyr(uplo, n, alpha, x, incx, a, lda)
      import :: c_float, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, lda
      real(c_float), intent(in) :: alpha
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: a(lda, *)
    end subroutine
    subroutine dsyr(uplo, n, alpha, x, incx, a, lda)
      import :: c_double, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, lda
      real(c_double), intent(in) :: alpha
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: a(lda, *)
    end subroutine
  end interface

  ! A := alpha*x*x^H + A, A Hermitian, alpha real
  interface her
    subroutine cher(uplo, n, alpha, x, incx, a, lda)
      import :: c_float, c_float_complex, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, lda
      real(c_float), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: x(*)
      complex(c_float_complex), intent(inout) :: a(lda, *)
    end subroutine
    subroutine zher(uplo, n, alpha, x, incx, a, lda)
      import :: c_double, c_double_complex, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, lda
      real(c_double), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: x(*)
      complex(c_double_complex), intent(inout) :: a(lda, *)
    end subroutine
  end interface

  ! A := alpha*(x*y^T + y*x^T) + A, A symmetric
  interface syr2
    subroutine ssyr2(uplo, n, alpha, x, incx, y, incy, a, lda)
      import :: c_float, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, incy, lda
      real(c_float), intent(in) :: alpha
      real(c_float), intent(in) :: x(*), y(*)
      real(c_float), intent(inout) :: a(lda, *)
    end subroutine
    subroutine dsyr2(uplo, n, alpha, x, incx, y, incy, a, lda)
      import :: c_double, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, incy, lda
      real(c_double), intent(in) :: alpha
      real(c_double), intent(in) :: x(*), y(*)
      real(c_double), intent(inout) :: a(lda, *)
    end subroutine
  end interface

  ! A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian
  interface her2
    subroutine cher2(uplo, n, alpha, x, incx, y, incy, a, lda)
      import :: c_float_complex, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, incy, lda
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: x(*), y(*)
      complex(c_float_complex), intent(inout) :: a(lda, *)
    end subroutine
    subroutine zher2(uplo, n, alpha, x, incx, y, incy, a, lda)
      import :: c_double_complex, c_int
      character(1), intent(in) :: uplo
      integer(c_int), intent(in) :: n, incx, incy, lda
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: x(*), y(*)
      complex(c_double_complex), intent(inout) :: a(lda, *)
    end subroutine
  end interface

  ! ---- Level 3: matrices -----------------------------------------------------------

  ! C := alpha*op(A)*op(B) + beta*C
  interface gemm
    subroutine sgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float, c_int
      character(1), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, lda, ldb, ldc
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(lda, *), b(ldb, *)
      real(c_float), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine dgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double, c_int
      character(1), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, lda, ldb, ldc
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(lda, *), b(ldb, *)
      real(c_double), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine cgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float_complex, c_int
      character(1), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double_complex, c_int
      character(1), intent(in) :: transa, transb
      integer(c_int), intent(in) :: m, n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! The same for one triangle of C only
  interface gemmtr
    subroutine sgemmtr(uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float, c_int
      character(1), intent(in) :: uplo, transa, transb
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(lda, *), b(ldb, *)
      real(c_float), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine dgemmtr(uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double, c_int
      character(1), intent(in) :: uplo, transa, transb
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(lda, *), b(ldb, *)
      real(c_double), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine cgemmtr(uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float_complex, c_int
      character(1), intent(in) :: uplo, transa, transb
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zgemmtr(uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double_complex, c_int
      character(1), intent(in) :: uplo, transa, transb
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! C := alpha*A*B + beta*C or alpha*B*A + beta*C, A symmetric
  interface symm
    subroutine ssymm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float, c_int
      character(1), intent(in) :: side, uplo
      integer(c_int), intent(in) :: m, n, lda, ldb, ldc
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(lda, *), b(ldb, *)
      real(c_float), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine dsymm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double, c_int
      character(1), intent(in) :: side, uplo
      integer(c_int), intent(in) :: m, n, lda, ldb, ldc
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(lda, *), b(ldb, *)
      real(c_double), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine csymm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float_complex, c_int
      character(1), intent(in) :: side, uplo
      integer(c_int), intent(in) :: m, n, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zsymm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double_complex, c_int
      character(1), intent(in) :: side, uplo
      integer(c_int), intent(in) :: m, n, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! The same, A Hermitian
  interface hemm
    subroutine chemm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float_complex, c_int
      character(1), intent(in) :: side, uplo
      integer(c_int), intent(in) :: m, n, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zhemm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double_complex, c_int
      character(1), intent(in) :: side, uplo
      integer(c_int), intent(in) :: m, n, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! C := alpha*A*A^T + beta*C or alpha*A^T*A + beta*C, C symmetric
  interface syrk
    subroutine ssyrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
      import :: c_float, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldc
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(lda, *)
      real(c_float), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine dsyrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
      import :: c_double, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldc
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(lda, *)
      real(c_double), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine csyrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
      import :: c_float_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zsyrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
      import :: c_double_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! C := alpha*A*A^H + beta*C or alpha*A^H*A + beta*C, C Hermitian, alpha and beta real
  interface herk
    subroutine cherk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
      import :: c_float, c_float_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldc
      real(c_float), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zherk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)
      import :: c_double, c_double_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldc
      real(c_double), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! C := alpha*(A*B^T + B*A^T) + beta*C or with A^T*B, C symmetric
  interface syr2k
    subroutine ssyr2k(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      real(c_float), intent(in) :: alpha, beta
      real(c_float), intent(in) :: a(lda, *), b(ldb, *)
      real(c_float), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine dsyr2k(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      real(c_double), intent(in) :: alpha, beta
      real(c_double), intent(in) :: a(lda, *), b(ldb, *)
      real(c_double), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine csyr2k(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha, beta
      complex(c_float_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zsyr2k(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha, beta
      complex(c_double_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! C := alpha*A*B^H + conj(alpha)*B*A^H + beta*C or with A^H*B, C Hermitian, beta real
  interface her2k
    subroutine cher2k(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_float, c_float_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      complex(c_float_complex), intent(in) :: alpha
      real(c_float), intent(in) :: beta
      complex(c_float_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_float_complex), intent(inout) :: c(ldc, *)
    end subroutine
    subroutine zher2k(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
      import :: c_double, c_double_complex, c_int
      character(1), intent(in) :: uplo, trans
      integer(c_int), intent(in) :: n, k, lda, ldb, ldc
      complex(c_double_complex), intent(in) :: alpha
      real(c_double), intent(in) :: beta
      complex(c_double_complex), intent(in) :: a(lda, *), b(ldb, *)
      complex(c_double_complex), intent(inout) :: c(ldc, *)
    end subroutine
  end interface

  ! B := alpha*op(A)*B or alpha*B*op(A), A triangular
  interface trmm
    subroutine strmm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_float, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      real(c_float), intent(in) :: alpha
      real(c_float), intent(in) :: a(lda, *)
      real(c_float), intent(inout) :: b(ldb, *)
    end subroutine
    subroutine dtrmm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_double, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      real(c_double), intent(in) :: alpha
      real(c_double), intent(in) :: a(lda, *)
      real(c_double), intent(inout) :: b(ldb, *)
    end subroutine
    subroutine ctrmm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_float_complex, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: a(lda, *)
      complex(c_float_complex), intent(inout) :: b(ldb, *)
    end subroutine
    subroutine ztrmm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_double_complex, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: a(lda, *)
      complex(c_double_complex), intent(inout) :: b(ldb, *)
    end subroutine
  end interface

  ! B := alpha*inv(op(A))*B or alpha*B*inv(op(A)), A triangular
  interface trsm
    subroutine strsm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_float, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      real(c_float), intent(in) :: alpha
      real(c_float), intent(in) :: a(lda, *)
      real(c_float), intent(inout) :: b(ldb, *)
    end subroutine
    subroutine dtrsm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_double, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      real(c_double), intent(in) :: alpha
      real(c_double), intent(in) :: a(lda, *)
      real(c_double), intent(inout) :: b(ldb, *)
    end subroutine
    subroutine ctrsm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_float_complex, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      complex(c_float_complex), intent(in) :: alpha
      complex(c_float_complex), intent(in) :: a(lda, *)
      complex(c_float_complex), intent(inout) :: b(ldb, *)
    end subroutine
    subroutine ztrsm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
      import :: c_double_complex, c_int
      character(1), intent(in) :: side, uplo, transa, diag
      integer(c_int), intent(in) :: m, n, lda, ldb
      complex(c_double_complex), intent(in) :: alpha
      complex(c_double_complex), intent(in) :: a(lda, *)
      complex(c_double_complex), intent(inout) :: b(ldb, *)
    end subroutine
  end interface

end module corten
