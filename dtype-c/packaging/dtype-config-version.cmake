# The version is that of the header. Before 1.0, a new minor version may change anything.

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../../include/dtype.h" dtype_lines_ REGEX "^#define DTYPE_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" dtype_numbers_ "${dtype_lines_}")
list(JOIN dtype_numbers_ "." PACKAGE_VERSION)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" dtype_here_ "${PACKAGE_VERSION}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" dtype_asked_ "${PACKAGE_FIND_VERSION}")
if(dtype_here_ STREQUAL dtype_asked_ AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
    if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
