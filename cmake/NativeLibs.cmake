# CORTEN_NATIVE_LIBS: the system libraries a static link of libcorten.a needs, as -l flags.
#
# rustc is asked, with an empty crate: Corten uses no crate but std, so std's list is Corten's list.
# -lgcc_s and -lc are taken out: every compiler driver adds them itself, and only it knows the right
# form (with -static there is no libgcc_s, the driver takes libgcc_eh instead).

set(_dir "${CMAKE_BINARY_DIR}/CMakeFiles/native-libs")
file(MAKE_DIRECTORY "${_dir}")
file(WRITE "${_dir}/empty.rs" "")
set(_target)
if(CORTEN_RUST_TARGET)
  set(_target --target "${CORTEN_RUST_TARGET}")
endif()
execute_process(
  COMMAND "${RUSTC_EXECUTABLE}" --crate-type staticlib --print native-static-libs ${_target}
          -o "${_dir}/libempty.a" "${_dir}/empty.rs"
  OUTPUT_VARIABLE _out ERROR_VARIABLE _out RESULT_VARIABLE _rc)
if(NOT _rc EQUAL 0 OR NOT _out MATCHES "native-static-libs: ([^\n]*)")
  message(FATAL_ERROR "rustc did not tell its native libraries:\n${_out}")
endif()
separate_arguments(CORTEN_NATIVE_LIBS UNIX_COMMAND "${CMAKE_MATCH_1}")
list(REMOVE_ITEM CORTEN_NATIVE_LIBS -lgcc_s -lc)
message(STATUS "Native libraries of a static link: ${CORTEN_NATIVE_LIBS}")
