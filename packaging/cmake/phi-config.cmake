# Two targets:
#   phi::phi   the headers and libcurl; one file of your program defines PHI_IMPLEMENTATION
#   phi::impl  phi::phi and the implementation, which is compiled once in your build, with your flags
include(CMakeFindDependencyMacro)
find_dependency(CURL)
if(NOT TARGET phi::phi)
    add_library(phi INTERFACE)
    add_library(phi::phi ALIAS phi)
    foreach(phi_folder ../.. ../../extras ../../include ../../../include) # of the sources, or of what was installed
        get_filename_component(phi_folder "${CMAKE_CURRENT_LIST_DIR}/${phi_folder}" ABSOLUTE)
        if(EXISTS "${phi_folder}/phi.h" OR EXISTS "${phi_folder}/phi.hpp")
            target_include_directories(phi SYSTEM INTERFACE "${phi_folder}")
        endif()
    endforeach()
    target_link_libraries(phi INTERFACE CURL::libcurl)
    if(WIN32)
        target_link_libraries(phi INTERFACE ws2_32 bcrypt)
    endif()
    if(MSVC AND CMAKE_C_COMPILER_LOADED) # its C is older than C99 if no standard is named
        target_compile_features(phi INTERFACE c_std_11)
    endif()

    add_library(phi_impl STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/phi_implementation.c")
    add_library(phi::impl ALIAS phi_impl)
    target_link_libraries(phi_impl PUBLIC phi)
    if(NOT CMAKE_C_COMPILER_LOADED) # a project in C++ alone
        set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/phi_implementation.c" PROPERTIES LANGUAGE CXX)
    endif()
endif()
