#!/bin/bash -eu
# Builds each fuzzer of tests/fuzz into $OUT, with its corpus. The fuzzers use no network, so they need no libcurl, which
# the image that runs them does not have.
cd "$SRC/phi"
fuzzers=$(basename -s .c tests/fuzz/fuzz_*.c)
make -j"$(nproc)" V=oss CC="$CC" WERROR= FLAGS_oss="$CFLAGS -DPHI_NO_CURL" build/oss/libphi.a \
    $(printf 'build/oss/tests/fuzz/%s.o ' $fuzzers)
for name in $fuzzers; do
    $CXX $CXXFLAGS "build/oss/tests/fuzz/$name.o" build/oss/libphi.a $LIB_FUZZING_ENGINE -lm -lpthread -o "$OUT/$name"
    if [ -d "tests/fuzz/corpus/$name" ]; then
        python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "tests/fuzz/corpus/$name/"
    fi
done
