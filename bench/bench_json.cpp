// bench_json.cpp - JSON read and written: phi beside cJSON, jansson, json-c, RapidJSON, simdjson
// and, where the machine has it, yyjson. A peer that is not installed is left out.
//
//   g++ -O2 -std=c++17 -Ibuild/include bench/bench_json.cpp -lcjson -ljson-c -lsimdjson -ldl
//
// (each -l only with its header; -lyyjson with yyjson.h; build/include is what amalgamate.py
// writes). jansson is loaded at run time, as its names clash with json-c's. All run in one process,
// in turns; the best of the turns counts. Lines: name value unit.
//
// A tree is built and dropped each time. phi and RapidJSON get memory that is kept between texts,
// as their users would do; simdjson keeps its parser and gets padded text; the others know only
// malloc.
#define PHI_IMPLEMENTATION
#include "phi_json.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#if __has_include(<cjson/cJSON.h>)
#include <cjson/cJSON.h>
#define HAVE_CJSON 1
#endif
#if __has_include(<json-c/json.h>)
#include <json-c/json.h>
#define HAVE_JSONC 1
#endif
#if __has_include(<rapidjson/document.h>)
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#define HAVE_RAPIDJSON 1
#endif
#if __has_include(<simdjson.h>)
#include <simdjson.h>
#define HAVE_SIMDJSON 1
#endif
#if __has_include(<yyjson.h>)
#include <yyjson.h>
#define HAVE_YYJSON 1
#endif

namespace {

using job = std::function<void()>;

struct row {
    std::string name;
    job run;
    double best;
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

[[noreturn]] void broken(const char *what) {
    std::fprintf(stderr, "bench_json: %s failed\n", what);
    std::exit(1);
}

// Seconds for one run of each, the best of `turns` turns of `times` runs.
void measure(std::vector<row> &rows, int turns, int times) {
    for (row &r : rows) r.best = 1e9, r.run();
    for (int turn = 0; turn < turns; turn++)
        for (row &r : rows) {
            double start = now();
            for (int i = 0; i < times; i++) r.run();
            r.best = std::min(r.best, (now() - start) / times);
        }
}

void print_rate(const std::vector<row> &rows, const char *what, size_t bytes) {
    for (const row &r : rows)
        std::printf("json_%s_%s %.1f MB/s\n", what, r.name.c_str(), double(bytes) / r.best / 1e6);
}

void print_time(const std::vector<row> &rows, const char *what) {
    for (const row &r : rows)
        std::printf("json_%s_%s %.1f ns\n", what, r.name.c_str(), r.best * 1e9);
}

void print_ratio(const std::vector<row> &rows, const char *what) {
    double phi = 0, cjson = 0, peer = 1e9;
    std::string name;
    for (const row &r : rows) {
        if (r.name == "phi") phi = r.best;
        if (r.name == "cjson") cjson = r.best;
        if (r.name.compare(0, 3, "phi") != 0 && r.best < peer) peer = r.best, name = r.name;
    }
    if (cjson > 0) std::printf("json_%s_over_cjson %.2f times\n", what, cjson / phi);
    if (peer < 1e9)
        std::printf("json_%s_over_fastest_%s %.2f times\n", what, name.c_str(), peer / phi);
}

struct jansson {
    void *(*load)(const char *, size_t, size_t, void *);
    char *(*dump)(const void *, size_t);
    void (*drop)(void *);
    bool there;
};

const jansson &jansson_of_this_machine() {
    static jansson lib;
    void *file =
        lib.there ? nullptr : dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (file == nullptr) return lib;
    lib.load = (void *(*)(const char *, size_t, size_t, void *))dlsym(file, "json_loadb");
    lib.dump = (char *(*)(const void *, size_t))dlsym(file, "json_dumps");
    lib.drop = (void (*)(void *))dlsym(file, "json_delete");
    lib.there = lib.load && lib.dump && lib.drop;
    return lib;
}

const size_t jansson_compact = 0x20;

// ---- texts ----

std::string in_quotes(const std::string &text) {
    phi_memory memory;
    phi__buf buf;
    phi_memory_init(&memory, nullptr, 0);
    phi__buf_init(&buf, &memory);
    phi__json_write_str(&buf, phi__str(text.data(), text.size()));
    std::string out(buf.at, buf.len);
    phi__buf_free(&buf);
    return out;
}

// A coding agent's history: prose, code with many escapes, tool calls, some text beyond ASCII.
std::string conversation(size_t bytes) {
    const std::string prose =
        "I looked at the parser and found that it reads one byte past the end when the last line "
        "has no newline. The fix is small: check the length first, then look at the byte.\n\n";
    const std::string code = "static int next(struct lexer *lx) {\n\tif (lx->at == lx->end)\n\t\t"
                             "return fail(lx, \"end of \\\"input\\\"\");\n\treturn *lx->at++;\n}\n";
    const std::string other = "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe8\xaa\xac\xe6\x98"
                              "\x8e \xe2\x80\x94 caf\xc3\xa9 \xf0\x9f\x98\x80\n";
    std::string out = "{\"model\":\"m\",\"max_tokens\":8192,\"temperature\":0.7,\"messages\":[";
    for (unsigned i = 0; out.size() < bytes; i++) {
        std::string id = "call_" + std::to_string(100000 + i), text, result;
        for (unsigned k = 0; k < 3 + i % 5; k++) text += prose;
        for (unsigned k = 0; k < 2 + i % 7; k++) result += code;
        if (i % 8 == 0) text += other + other;
        if (i > 0) out += ",";
        out += "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":" + in_quotes(text) +
               "}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":" +
               in_quotes(prose) + "},{\"type\":\"tool_use\",\"id\":\"" + id +
               "\",\"name\":\"read_file\",\"input\":{\"path\":\"src/lexer.c\",\"offset\":" +
               std::to_string(i * 40) +
               ",\"limit\":200,\"raw\":true}}],\"usage\":{\"input_tokens\":" +
               std::to_string(1000 + i) + ",\"output_tokens\":77,\"cost\":0.0123}}," +
               "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" + id +
               "\",\"content\":" + in_quotes(result) + ",\"is_error\":false}]}";
    }
    return out + "]}";
}

const char openai_delta[] =
    "{\"id\":\"chatcmpl-BxQ3kf9Yc2\",\"object\":\"chat.completion.chunk\",\"created\":1763700000,"
    "\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" world\"},"
    "\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"Qa81\"}";
const char anthropic_delta[] =
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
    "\"He said \\\"hello\\\" and went on\"}}";
const char least_delta[] =
    "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,"
    "\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}],\"usage\":null}";

// ---- reading ----

phi_memory memory;

std::vector<row> readers(const std::string &text) {
    static phi_arena arena;
    static phi_arena_mark mark;
    std::vector<row> rows;
    phi_arena_init(&arena, &memory, 65536);
    (void)phi_arena_alloc(&arena, 1); // so that going back to the mark keeps a block
    mark = phi_arena_save(&arena);
    const auto phi = [&text](uint32_t flags) {
        return [&text, flags] {
            phi_json *root;
            if (phi_json_parse(&arena, phi__str(text.data(), text.size()), flags, &root, nullptr))
                broken("phi");
            phi_arena_reset(&arena, mark);
        };
    };
    rows.push_back({"phi", phi(0), 0});
    rows.push_back({"phi_borrowed", phi(PHI_JSON_BORROW), 0});
#ifdef HAVE_CJSON
    rows.push_back({"cjson",
                    [&text] {
                        cJSON *root = cJSON_ParseWithLength(text.data(), text.size());
                        if (!root) broken("cJSON");
                        cJSON_Delete(root);
                    },
                    0});
#endif
    if (jansson_of_this_machine().there)
        rows.push_back({"jansson",
                        [&text, lib = jansson_of_this_machine()] {
                            void *root = lib.load(text.data(), text.size(), 0, nullptr);
                            if (!root) broken("jansson");
                            lib.drop(root);
                        },
                        0});
#ifdef HAVE_JSONC
    rows.push_back({"json_c",
                    [&text] {
                        json_object *root = json_tokener_parse(text.c_str());
                        if (!root) broken("json-c");
                        json_object_put(root);
                    },
                    0});
#endif
#ifdef HAVE_RAPIDJSON
    static std::vector<char> pool(1u << 16);
    rows.push_back({"rapidjson",
                    [&text] {
                        rapidjson::MemoryPoolAllocator<> from(pool.data(), pool.size());
                        rapidjson::Document root(&from);
                        if (root.Parse<rapidjson::kParseValidateEncodingFlag |
                                       rapidjson::kParseFullPrecisionFlag>(text.data(), text.size())
                                .HasParseError())
                            broken("RapidJSON");
                    },
                    0});
#endif
#ifdef HAVE_SIMDJSON
    rows.push_back({"simdjson",
                    [padded = std::make_shared<simdjson::padded_string>(text)] {
                        static simdjson::dom::parser parser;
                        if (parser.parse(*padded).error()) broken("simdjson");
                    },
                    0});
#endif
#ifdef HAVE_YYJSON
    rows.push_back({"yyjson",
                    [&text] {
                        yyjson_doc *root = yyjson_read(text.data(), text.size(), 0);
                        if (!root) broken("yyjson");
                        yyjson_doc_free(root);
                    },
                    0});
#endif
    return rows;
}

void read_bench(const std::string &text, const char *what, int turns, int times, bool rate) {
    std::vector<row> rows = readers(text);
    measure(rows, turns, times);
    rate ? print_rate(rows, what, text.size()) : print_time(rows, what);
    print_ratio(rows, what);
}

// ---- writing ----

void write_bench(const std::string &text) {
    std::vector<row> rows;
    phi_arena arena;
    phi_json *root;
    phi_arena_init(&arena, &memory, 0);
    if (phi_json_parse(&arena, phi__str(text.data(), text.size()), 0, &root, nullptr))
        broken("phi");
    rows.push_back({"phi",
                    [root] {
                        phi__buf out;
                        phi__buf_init(&out, &memory);
                        if (phi__json_write(&out, root, 0)) broken("phi");
                        phi__buf_free(&out);
                    },
                    0});
#ifdef HAVE_CJSON
    cJSON *cjson = cJSON_ParseWithLength(text.data(), text.size());
    rows.push_back({"cjson", [cjson] { cJSON_free(cJSON_PrintUnformatted(cjson)); }, 0});
#endif
    const jansson lib = jansson_of_this_machine();
    void *jansson_root = lib.there ? lib.load(text.data(), text.size(), 0, nullptr) : nullptr;
    if (jansson_root)
        rows.push_back(
            {"jansson",
             [&lib, jansson_root] { std::free(lib.dump(jansson_root, jansson_compact)); }, 0});
#ifdef HAVE_JSONC
    json_object *jsonc = json_tokener_parse(text.c_str());
    rows.push_back({"json_c",
                    [jsonc] {
                        size_t len;
                        json_object_to_json_string_length(
                            jsonc, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
                    },
                    0});
#endif
#ifdef HAVE_RAPIDJSON
    rapidjson::Document rapid;
    rapid.Parse(text.data(), text.size());
    rows.push_back({"rapidjson",
                    [&rapid] {
                        rapidjson::StringBuffer out;
                        rapidjson::Writer<rapidjson::StringBuffer> writer(out);
                        rapid.Accept(writer);
                    },
                    0});
#endif
    measure(rows, 9, 3);
    print_rate(rows, "write_conversation", text.size());
    print_ratio(rows, "write_conversation");
    phi_arena_free(&arena);
#ifdef HAVE_CJSON
    cJSON_Delete(cjson);
#endif
    if (jansson_root) lib.drop(jansson_root);
#ifdef HAVE_JSONC
    json_object_put(jsonc);
#endif
}

// ---- without a tree ----

void pull_openai(phi__buf *out) {
    phi__json_cursor c;
    phi__json_text key, text;
    int64_t index = -1;
    phi__json_cursor_init(&c, phi__str(openai_delta, sizeof openai_delta - 1));
    if (phi__json_cursor_enter_object(&c))
        while (phi__json_cursor_next_key(&c, &key)) {
            if (!phi__json_cursor_text_is(key, PHI__LIT("choices"))) {
                phi__json_cursor_skip(&c);
                continue;
            }
            if (!phi__json_cursor_enter_array(&c)) continue;
            while (phi__json_cursor_next_item(&c)) {
                if (!phi__json_cursor_enter_object(&c)) continue;
                while (phi__json_cursor_next_key(&c, &key)) {
                    if (phi__json_cursor_text_is(key, PHI__LIT("index"))) {
                        phi__json_cursor_take_i64(&c, &index);
                    } else if (phi__json_cursor_text_is(key, PHI__LIT("delta"))) {
                        if (!phi__json_cursor_enter_object(&c)) continue;
                        while (phi__json_cursor_next_key(&c, &key)) {
                            if (!phi__json_cursor_text_is(key, PHI__LIT("content")))
                                phi__json_cursor_skip(&c);
                            else if (phi__json_cursor_take_text(&c, &text))
                                phi__json_cursor_unescape(out, text);
                        }
                    } else
                        phi__json_cursor_skip(&c);
                }
            }
        }
    if (!phi__json_cursor_done(&c) || index != 0) broken("pulling");
}

void pull_anthropic(phi__buf *out) {
    phi__json_cursor c;
    phi__json_text key, type = {nullptr, 0, false}, text;
    int64_t index = -1;
    phi__json_cursor_init(&c, phi__str(anthropic_delta, sizeof anthropic_delta - 1));
    if (phi__json_cursor_enter_object(&c))
        while (phi__json_cursor_next_key(&c, &key)) {
            if (phi__json_cursor_text_is(key, PHI__LIT("type"))) {
                phi__json_cursor_take_text(&c, &type);
            } else if (phi__json_cursor_text_is(key, PHI__LIT("index"))) {
                phi__json_cursor_take_i64(&c, &index);
            } else if (phi__json_cursor_text_is(key, PHI__LIT("delta"))) {
                if (!phi__json_cursor_enter_object(&c)) continue;
                while (phi__json_cursor_next_key(&c, &key)) {
                    if (!phi__json_cursor_text_is(key, PHI__LIT("text")))
                        phi__json_cursor_skip(&c);
                    else if (phi__json_cursor_take_text(&c, &text))
                        phi__json_cursor_unescape(out, text);
                }
            } else
                phi__json_cursor_skip(&c);
        }
    if (!phi__json_cursor_done(&c) || index != 0 || type.len == 0) broken("pulling");
}

void pull_bench() {
    static phi__buf out;
    phi__buf_init(&out, &memory);
    std::vector<row> rows;
    rows.push_back({"openai", [] { phi__buf_clear(&out), pull_openai(&out); }, 0});
    rows.push_back({"anthropic", [] { phi__buf_clear(&out), pull_anthropic(&out); }, 0});
    rows.push_back({"find_openai",
                    [] {
                        phi__json_found found;
                        if (phi__json_cursor_find(phi__str(openai_delta, sizeof openai_delta - 1),
                                                  "choices[0].delta.content", &found))
                            broken("finding");
                    },
                    0});
    std::string stream;
    for (int i = 0; i < 64; i++)
        stream += std::string("event: content_block_delta\ndata: ") + anthropic_delta + "\n\n";
    rows.push_back({"sse_64_events",
                    [&stream] {
                        phi__sse sse;
                        phi__sse_event event;
                        int n = 0;
                        phi__sse_init(&sse, &memory, 0);
                        phi__sse_feed(&sse, stream.data(), stream.size());
                        while (phi__sse_next(&sse, &event) > 0) n++;
                        phi__sse_free(&sse);
                        if (n != 64) broken("SSE");
                    },
                    0});
    measure(rows, 50, 2000);
    print_time(rows, "pull_delta");
    phi__buf_free(&out);
}

// ---- numbers ----

void number_bench() {
    static std::vector<double> values;
    static std::vector<std::string> texts;
    uint64_t state = 88172645463325252u;
    char text[40];
    while (values.size() < 1000) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        double d = double(state >> 11) / double(1 + (state & 0xfffff));
        values.push_back(d);
        std::snprintf(text, sizeof text, "%.17g", d);
        texts.push_back(text);
    }
    std::vector<row> rows;
    rows.push_back({"write_phi",
                    [] {
                        char out[40];
                        for (double d : values) out[0] = char(phi__json_number_double_text(d, out));
                    },
                    0});
    rows.push_back({"write_printf",
                    [] {
                        char out[40];
                        for (double d : values) std::snprintf(out, sizeof out, "%.17g", d);
                    },
                    0});
    rows.push_back({"read_phi",
                    [] {
                        phi__json_number n;
                        const char *bad;
                        for (const std::string &s : texts)
                            phi__json_number_read(s.data(), s.data() + s.size(), &n, &bad);
                    },
                    0});
    rows.push_back({"read_strtod",
                    [] {
                        for (const std::string &s : texts)
                            if (std::strtod(s.c_str(), nullptr) < 0) broken("strtod");
                    },
                    0});
    measure(rows, 20, 20);
    for (row &r : rows) r.best /= 1000;
    print_time(rows, "double");
}

// Bytes of tree a byte of text, strings borrowed.
void print_tree_bytes(const char *what, const std::string &text) {
    phi_memory counted;
    phi_arena arena;
    phi_json *root;
    phi_memory_init(&counted, nullptr, 0);
    phi_arena_init(&arena, &counted, 65536);
    char *before = (char *)phi_arena_alloc(&arena, 16);
    if (phi_json_parse(&arena, phi__str(text.data(), text.size()), PHI_JSON_BORROW, &root, nullptr))
        broken("phi");
    double bytes = text.size() > 4096 ? double(counted.used_bytes) : double(arena.at - before - 16);
    std::printf("json_tree_bytes_%s %.2f bytes/byte\n", what, bytes / double(text.size()));
    phi_arena_free(&arena);
}

} // namespace

int main() {
    const std::string big = conversation(5u << 20);
    phi_memory_init(&memory, nullptr, 0);
    read_bench(big, "read_conversation", 9, 3, true);
    read_bench(openai_delta, "read_delta_openai", 50, 2000, false);
    read_bench(anthropic_delta, "read_delta_anthropic", 50, 2000, false);
    write_bench(big);
    pull_bench();
    number_bench();
    print_tree_bytes("conversation", big);
    print_tree_bytes("delta_openai", openai_delta);
    print_tree_bytes("delta_anthropic", anthropic_delta);
    print_tree_bytes("delta_least", least_delta);
    return 0;
}
