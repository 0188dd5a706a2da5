# The version is in the header. A version serves requests for itself and older ones of its series: the same major
# version, and before 1.0 the same minor version.
foreach(phi_folder ../.. ../../include ../../../include) # of the sources, or of what was installed
    if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/${phi_folder}/phi_json.h")
        file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/${phi_folder}/phi_json.h" PACKAGE_VERSION
             REGEX "^#define PHI_VERSION \"" LIMIT_COUNT 1)
    endif()
endforeach()
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" PACKAGE_VERSION "${PACKAGE_VERSION}")

set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)
string(REGEX MATCH "^(0\\.)?[0-9]+" phi_series "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0\\.)?[0-9]+" phi_wanted "${PACKAGE_FIND_VERSION}")
if(phi_wanted STREQUAL "" OR phi_wanted STREQUAL "0" OR phi_wanted STREQUAL phi_series)
    if(NOT PACKAGE_VERSION VERSION_LESS "0${PACKAGE_FIND_VERSION}")
        set(PACKAGE_VERSION_COMPATIBLE TRUE)
    endif()
    if(PACKAGE_VERSION VERSION_EQUAL "0${PACKAGE_FIND_VERSION}")
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
