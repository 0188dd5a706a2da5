# Written, not run: a port for the folder of overlay ports, or for vcpkg's registry.
vcpkg_download_distfile(ARCHIVE
    URLS "@URL@/phi-@VERSION@.zip"
    FILENAME "phi-@VERSION@.zip"
    SHA512 @SHA512@
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

set(VCPKG_BUILD_TYPE release) # headers
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/phi)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
