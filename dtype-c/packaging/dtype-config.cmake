# find_package(dtype) defines dtype::dtype, the shared library, and dtype::static.

get_filename_component(dtype_prefix_ "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET dtype::dtype)
    add_library(dtype::dtype SHARED IMPORTED)
    set_target_properties(dtype::dtype PROPERTIES
        IMPORTED_LOCATION "${dtype_prefix_}/lib/libdtype.so"
        INTERFACE_INCLUDE_DIRECTORIES "${dtype_prefix_}/include")
    add_library(dtype::static STATIC IMPORTED)
    set_target_properties(dtype::static PROPERTIES
        IMPORTED_LOCATION "${dtype_prefix_}/lib/libdtype.a"
        INTERFACE_INCLUDE_DIRECTORIES "${dtype_prefix_}/include"
        INTERFACE_LINK_LIBRARIES "gcc_s;m;c")
endif()

unset(dtype_prefix_)
