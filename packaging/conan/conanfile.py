import os

from conan import ConanFile
from conan.tools.files import copy, get


class PhiConan(ConanFile):
    name = "phi"
    version = "@VERSION@"
    description = "An LLM agent loop in portable C: headers, of which one file of a program holds the implementation"
    license = "MIT"
    url = homepage = "@REPOSITORY@"
    topics = ("llm", "agent", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def requirements(self):
        self.requires("libcurl/[>=7.68 <9]")

    def package_id(self):
        self.info.clear()

    def source(self):
        get(self, "@URL@/phi-@VERSION@.zip", sha256="@SHA256@", strip_root=True)

    def package(self):
        def put(pattern, folder, to):
            copy(self, pattern, os.path.join(self.source_folder, folder), os.path.join(self.package_folder, to))

        put("LICENSE", "", "licenses")
        put("phi*.h", "", "include")
        put("phi*.h*", "extras", "include")
        put("*", "packaging/cmake", "share/cmake/phi")

    def package_info(self):
        # find_package(phi) reads phi's own file, which makes phi::phi and phi::impl.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/phi"]
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        if self.settings.os == "Windows":
            self.cpp_info.system_libs = ["ws2_32", "bcrypt"]
