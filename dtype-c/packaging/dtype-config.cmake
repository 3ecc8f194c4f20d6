# find_package(dtype) defines dtype::dtype, the shared library, and dtype::static.

# PREFIX/lib/cmake/dtype or PREFIX/share/cmake/dtype.
get_filename_component(dtype_prefix_ "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(dtype_folders_ "${dtype_prefix_}/lib" "${dtype_prefix_}/lib/${CMAKE_LIBRARY_ARCHITECTURE}" "${dtype_prefix_}/lib64")
unset(dtype_shared_ CACHE) # of an earlier search, perhaps elsewhere
unset(dtype_static_ CACHE)
find_library(dtype_shared_ NAMES libdtype.so libdtype.dylib dtype PATHS ${dtype_folders_} NO_DEFAULT_PATH)
find_library(dtype_static_ NAMES libdtype.a PATHS ${dtype_folders_} NO_DEFAULT_PATH)

if(NOT TARGET dtype::dtype AND dtype_shared_)
    add_library(dtype::dtype SHARED IMPORTED)
    set_target_properties(dtype::dtype PROPERTIES
        IMPORTED_LOCATION "${dtype_shared_}"
        INTERFACE_INCLUDE_DIRECTORIES "${dtype_prefix_}/include")
endif()
if(NOT TARGET dtype::static AND dtype_static_)
    add_library(dtype::static STATIC IMPORTED)
    set_target_properties(dtype::static PROPERTIES
        IMPORTED_LOCATION "${dtype_static_}"
        INTERFACE_INCLUDE_DIRECTORIES "${dtype_prefix_}/include"
        INTERFACE_LINK_LIBRARIES "gcc_eh;m;c")
endif()

if(NOT dtype_shared_ AND NOT dtype_static_)
    set(dtype_FOUND FALSE)
    set(dtype_NOT_FOUND_MESSAGE "libdtype is not in ${dtype_folders_}")
endif()
unset(dtype_prefix_)
unset(dtype_folders_)
unset(dtype_shared_ CACHE)
unset(dtype_static_ CACHE)
