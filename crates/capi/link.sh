#!/bin/sh
# Lays out the C library below a directory: link.sh STATIC-LIBRARY PREFIX [VERSION].
# STATIC-LIBRARY is what cargo built, target/release/libtapewise_capi.a as a rule. CC, DESTDIR and UNWIND (the library
# that unwinds the stack, -lgcc_s) are honoured.
set -eu
archive=$1 prefix=$2 version=${3:-0.1.0}
here=$(cd "$(dirname "$0")" && pwd)
to=${DESTDIR:-}$prefix
mkdir -p "$to/include" "$to/lib/pkgconfig" "$to/lib/cmake/tapewise"
cp "$here/include/tapewise.h" "$here/include/tapewise.hpp" "$to/include/"
cp "$archive" "$to/lib/libtapewise.a"

# Only what the version script names, and what that needs.
wanted=$(sed -n 's/^ *\(tapewise_[a-z_]*\);/-Wl,-u,\1/p' "$here/include/tapewise.map")
# shellcheck disable=SC2086
${CC:-cc} -shared -o "$to/lib/libtapewise.so.$version" -Wl,-soname,libtapewise.so.0 \
    -Wl,--version-script="$here/include/tapewise.map" -Wl,--gc-sections -Wl,-z,relro,-z,now $wanted "$archive" \
    "${UNWIND:--lgcc_s}" -lpthread -lm -ldl -lc
ln -sf "libtapewise.so.$version" "$to/lib/libtapewise.so.0"
ln -sf libtapewise.so.0 "$to/lib/libtapewise.so"

cat > "$to/lib/pkgconfig/tapewise.pc" <<END
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: tapewise
Description: The order in which a tape is read soonest
Version: $version
Libs: -L\${libdir} -ltapewise
Libs.private: -lgcc_s -lpthread -lm -ldl
Cflags: -I\${includedir}
END

cat > "$to/lib/cmake/tapewise/tapewise-config.cmake" <<'END'
# find_package(tapewise) gives the targets tapewise::tapewise (shared) and tapewise::static.
get_filename_component(_tapewise "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tapewise::tapewise)
  add_library(tapewise::tapewise SHARED IMPORTED)
  set_target_properties(tapewise::tapewise PROPERTIES
    IMPORTED_LOCATION "${_tapewise}/lib/libtapewise.so"
    IMPORTED_SONAME libtapewise.so.0
    INTERFACE_INCLUDE_DIRECTORIES "${_tapewise}/include")
  add_library(tapewise::static STATIC IMPORTED)
  set_target_properties(tapewise::static PROPERTIES
    IMPORTED_LOCATION "${_tapewise}/lib/libtapewise.a"
    INTERFACE_LINK_LIBRARIES "gcc_s;pthread;m;dl"
    INTERFACE_INCLUDE_DIRECTORIES "${_tapewise}/include")
endif()
unset(_tapewise)
END
cat > "$to/lib/cmake/tapewise/tapewise-config-version.cmake" <<END
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
