#!/bin/sh
# Builds llama.cpp's server from the sources that the PyPI package llama-cpp-python brings along:
# interop_llama.sh PIP DIRECTORY. The program is DIRECTORY/llama-server afterwards. Done before:
# nothing to do. It is built for any machine of its kind, with little optimization: that takes half
# the time, and the model is tiny.
set -eu

pip=$1
work=$2
version=0.3.36 # of llama-cpp-python

[ "$(cat "$work/installed" 2>/dev/null)" = "$version" ] && exit 0
command -v cmake >/dev/null && command -v g++ >/dev/null || {
    echo "interop: llama.cpp's server needs cmake and g++" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work"
echo "interop: llama.cpp's server is built in $work; half an hour, once"
# pip builds nothing here, but asks the package for its dependencies. Its own words may name the
# registry.
"$pip" download -q --disable-pip-version-check --no-deps --no-binary llama-cpp-python -d "$work" \
    "llama-cpp-python==$version" >"$work/pip.log" 2>&1 || {
    echo "interop: the sources could not be had: see $work/pip.log" >&2
    exit 1
}
tar -xzf "$work/llama_cpp_python-$version.tar.gz" -C "$work"
source=$work/llama_cpp_python-$version/vendor/llama.cpp
{
    nice -n 15 cmake -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG" \
        -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAMA_BUILD_TESTS=OFF \
        -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF \
        -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF &&
        nice -n 15 cmake --build "$work/build" "-j${LLAMA_JOBS:-1}" --target llama-server
} >"$work/build.log" 2>&1 || {
    tail -n 5 "$work/build.log" >&2
    exit 1
}
cp "$work/build/bin/llama-server" "$work/llama-server"
rm -rf "$work/build" "$work/llama_cpp_python-$version" "$work/llama_cpp_python-$version.tar.gz"
echo "$version" >"$work/installed"
