# Links libblas64.so.3: the ILP64 routines under the plain names (dgemm_, cblas_dgemm), for programs
# built against a libblas64.so.3 that has 64-bit integers behind those names.
#
# It cannot be a link to libcorten.so: there the plain names take 32-bit integers. It is made from the
# sealed object: the LP64 routines are hidden, then dgemm_64_ is renamed dgemm_ and cblas_dgemm_64
# becomes cblas_dgemm. Names that carry no integer width (xerbla_, corten_*) stay as they are.
#
# Called as cmake -DCC= -DOBJCOPY= -DOBJECT= -DEXPORTS= -DLIBS= -DDIR= -DOUT= -P Blas64.cmake

include("${CMAKE_CURRENT_LIST_DIR}/Exports.cmake")
corten_read_exports(names "${EXPORTS}")

set(wide ${names})
list(FILTER wide INCLUDE REGEX "^([a-z0-9_]+_64_|cblas_[a-z0-9_]+_64)$")
list(FILTER wide EXCLUDE REGEX "^scipy_")
set(renames)
set(plain)
foreach(name IN LISTS wide)
  string(REGEX REPLACE "64_$" "" short "${name}")
  string(REGEX REPLACE "_64$" "" short "${short}")
  list(APPEND plain "${short}")
  string(APPEND renames "${name} ${short}\n")
endforeach()
if(NOT renames)
  message(FATAL_ERROR "${EXPORTS} lists no ILP64 name")
endif()

# Visible: the renamed ones, and all that is neither an LP64 routine nor an alias of an ILP64 one.
set(visible ${names})
list(FILTER visible EXCLUDE REGEX "64_?$|^scipy_")
list(REMOVE_ITEM visible ${plain})
list(APPEND visible ${wide})
list(REMOVE_DUPLICATES visible)
list(JOIN visible "\n" visible)
file(WRITE "${DIR}/visible64.txt" "${visible}\n")
file(WRITE "${DIR}/renames64.txt" "${renames}")

corten_run("${OBJCOPY}" "--keep-global-symbols=${DIR}/visible64.txt" "${OBJECT}" "${DIR}/corten64.o")
corten_run("${OBJCOPY}" "--redefine-syms=${DIR}/renames64.txt" "${DIR}/corten64.o")
corten_run("${CC}" -shared -o "${OUT}" "${DIR}/corten64.o" -Wl,-soname,libblas64.so.3 -Wl,-z,nodelete
           -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--gc-sections -Wl,--as-needed ${LIBS})
