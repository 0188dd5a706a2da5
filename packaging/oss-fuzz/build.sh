#!/bin/bash -eu
# Builds each fuzzer of tests/fuzz/ into $OUT, with its corpus. A runtime needs libcurl, which the image that runs the
# fuzzers does not have: its shared libraries are copied into $OUT/lib.
cd "$SRC/phi"
fuzzers=$(basename -s .c tests/fuzz/fuzz_*.c)
make -j"$(nproc)" V=oss CC="$CC" WERROR= FLAGS_oss="$CFLAGS" build/oss/libphi.a \
    $(printf 'build/oss/tests/fuzz/%s.o ' $fuzzers)
mkdir -p "$OUT/lib"
for name in $fuzzers; do
    $CXX $CXXFLAGS "build/oss/tests/fuzz/$name.o" build/oss/libphi.a $LIB_FUZZING_ENGINE -lcurl -lm -lpthread \
        -Wl,-rpath,'$ORIGIN/lib' -o "$OUT/$name"
    if [ -d "tests/fuzz/corpus/$name" ]; then
        python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "tests/fuzz/corpus/$name/"
    fi
done
# All but the C library's own, which must be those of the image.
ldd "$OUT"/fuzz_* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | xargs -r cp -t "$OUT/lib"
