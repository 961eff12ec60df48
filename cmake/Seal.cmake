# Makes the static library that is installed: one object whose only global definitions are the
# symbols of ffi/exports.txt.
#
# The archive cargo writes contains all of Rust's std with global names; two such archives in one
# program clash, and every Rust symbol leaks into the user's namespace. So: link relocatably, with
# the exports as roots (what they do not reach is dropped), make all other symbols local, archive.
# xerbla_, cblas_xerbla and their ILP64 forms become weak: an application's own definition wins
# without a clash.
#
# Called as cmake -DLD= -DOBJCOPY= -DAR= -DARCHIVE= -DEXPORTS= -DDIR= -P Seal.cmake;
# leaves DIR/corten.o and DIR/libcorten.a.

include("${CMAKE_CURRENT_LIST_DIR}/Exports.cmake")
corten_read_exports(names "${EXPORTS}")
file(MAKE_DIRECTORY "${DIR}")

list(TRANSFORM names PREPEND "-u " OUTPUT_VARIABLE roots)
list(JOIN roots "\n" roots)
file(WRITE "${DIR}/roots.txt" "${roots}\n")
list(JOIN names "\n" globals)
file(WRITE "${DIR}/globals.txt" "${globals}\n")
set(weak ${names})
list(FILTER weak INCLUDE REGEX "^(scipy_)?(cblas_)?xerbla(_|_64_?|64_)?$")
list(JOIN weak "\n" weak)
file(WRITE "${DIR}/weak.txt" "${weak}\n")

# --force-group-allocation: a COMDAT group must not survive, its key symbol is about to become local.
corten_run("${LD}" -r --gc-sections --force-group-allocation "@${DIR}/roots.txt"
           -o "${DIR}/corten.o.tmp" "${ARCHIVE}")
# .llvmbc: bitcode of Rust's std. With it, an LLVM plugin of another version in the user's nm, ar or ld
# takes the object for one of its own and finds no symbols. Line tables are compressed, every linker reads that: a third of the size.
corten_run("${OBJCOPY}" "--keep-global-symbols=${DIR}/globals.txt" "--weaken-symbols=${DIR}/weak.txt"
           --remove-section=.llvmbc --remove-section=.llvmcmd --compress-debug-sections=zlib
           "${DIR}/corten.o.tmp" "${DIR}/corten.o")
file(REMOVE "${DIR}/corten.o.tmp" "${DIR}/libcorten.a")
corten_run("${AR}" crsD "${DIR}/libcorten.a" "${DIR}/corten.o")
