# corten_read_exports(<variable> <file>): the names in ffi/exports.txt, without comments and blank lines.
function(corten_read_exports variable file)
  file(STRINGS "${file}" _names REGEX "^[A-Za-z_]")
  list(TRANSFORM _names STRIP)
  if(NOT _names)
    message(FATAL_ERROR "${file} lists no symbol")
  endif()
  set(${variable} "${_names}" PARENT_SCOPE)
endfunction()

# corten_run(<command>...): run it or stop the build.
function(corten_run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE _rc)
  if(NOT _rc EQUAL 0)
    list(JOIN ARGV " " _text)
    message(FATAL_ERROR "failed (${_rc}): ${_text}")
  endif()
endfunction()
