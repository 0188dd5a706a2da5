// trees.cpp - one delta by cJSON, jansson, json-c, RapidJSON and simdjson, each as its users would for
// speed: RapidJSON in place and in a pool that is kept, simdjson with a parser that is kept. jansson is
// loaded at run time, as its names clash with json-c's.
#include "trees.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <string_view>

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
#define HAVE_RAPIDJSON 1
#endif
#if __has_include(<simdjson.h>)
#include <simdjson.h>
#define HAVE_SIMDJSON 1
#endif

namespace {

size_t put(std::string_view text, char *out, size_t size) {
    const size_t n = text.size() < size ? text.size() : size;
    std::memcpy(out, text.data(), n);
    return n;
}

#ifdef HAVE_CJSON
size_t by_cjson(char *data, size_t len, char *out, size_t size) {
    cJSON *root = cJSON_ParseWithLength(data, len);
    if (root == nullptr) return SIZE_MAX;
    size_t n = 0;
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(root, "type");
    if (cJSON_IsString(type) && std::strcmp(type->valuestring, "content_block_delta") == 0) {
        const cJSON *delta = cJSON_GetObjectItemCaseSensitive(root, "delta");
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(delta, "text");
        if (cJSON_IsString(text)) n = put(text->valuestring, out, size);
    }
    cJSON_Delete(root);
    return n;
}
#endif

#ifdef HAVE_JSONC
size_t by_jsonc(char *data, size_t len, char *out, size_t size) {
    static json_tokener *tokener = json_tokener_new();
    json_tokener_reset(tokener);
    json_object *root = json_tokener_parse_ex(tokener, data, int(len));
    if (root == nullptr) return SIZE_MAX;
    size_t n = 0;
    json_object *type, *delta, *text;
    if (json_object_object_get_ex(root, "type", &type) &&
        std::strcmp(json_object_get_string(type), "content_block_delta") == 0 &&
        json_object_object_get_ex(root, "delta", &delta) &&
        json_object_object_get_ex(delta, "text", &text))
        n = put({json_object_get_string(text), size_t(json_object_get_string_len(text))}, out, size);
    json_object_put(root);
    return n;
}
#endif

#ifdef HAVE_RAPIDJSON
size_t by_rapidjson(char *data, size_t len, char *out, size_t size) {
    using namespace rapidjson;
    static char values[16384], stack[4096];
    MemoryPoolAllocator<> pool(values, sizeof values), depth(stack, sizeof stack);
    GenericDocument<UTF8<>, MemoryPoolAllocator<>, MemoryPoolAllocator<>> root(&pool, 1024, &depth);
    const char after = data[len];
    data[len] = '\0';
    root.ParseInsitu<kParseInsituFlag>(data);
    data[len] = after;
    if (root.HasParseError() || !root.IsObject()) return SIZE_MAX;
    const auto type = root.FindMember("type");
    if (type == root.MemberEnd() || type->value != "content_block_delta") return 0;
    const auto delta = root.FindMember("delta");
    if (delta == root.MemberEnd()) return 0;
    const auto text = delta->value.FindMember("text");
    if (text == delta->value.MemberEnd()) return 0;
    return put({text->value.GetString(), text->value.GetStringLength()}, out, size);
}
#endif

#ifdef HAVE_SIMDJSON
size_t by_simdjson(char *data, size_t len, char *out, size_t size) {
    static simdjson::dom::parser parser;
    simdjson::dom::element root;
    std::string_view type, text;
    if (parser.parse(data, len, false).get(root)) return SIZE_MAX;
    if (root["type"].get(type) || type != "content_block_delta") return 0;
    if (root["delta"]["text"].get(text)) return 0;
    return put(text, out, size);
}
#endif

struct jansson {
    void *(*load)(const char *, size_t, size_t, void *);
    void *(*get)(const void *, const char *);
    const char *(*text)(const void *);
    void (*drop)(void *);
} by_name;

bool find_jansson() {
    void *file = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (file == nullptr) return false;
    by_name.load = (void *(*)(const char *, size_t, size_t, void *))dlsym(file, "json_loadb");
    by_name.get = (void *(*)(const void *, const char *))dlsym(file, "json_object_get");
    by_name.text = (const char *(*)(const void *))dlsym(file, "json_string_value");
    by_name.drop = (void (*)(void *))dlsym(file, "json_delete");
    return by_name.load && by_name.get && by_name.text && by_name.drop;
}

size_t by_jansson(char *data, size_t len, char *out, size_t size) {
    void *root = by_name.load(data, len, 0, nullptr);
    if (root == nullptr) return SIZE_MAX;
    size_t n = 0;
    const char *type = by_name.text(by_name.get(root, "type"));
    if (type != nullptr && std::strcmp(type, "content_block_delta") == 0) {
        const char *text = by_name.text(by_name.get(by_name.get(root, "delta"), "text"));
        if (text != nullptr) n = put(text, out, size);
    }
    by_name.drop(root);
    return n;
}

} // namespace

extern "C" const tree_peer *tree_peers(void) {
    static tree_peer peers[6];
    static size_t count;
    if (count > 0) return peers;
#ifdef HAVE_RAPIDJSON
    peers[count++] = {"rapidjson", by_rapidjson};
#endif
#ifdef HAVE_SIMDJSON
    peers[count++] = {"simdjson", by_simdjson};
#endif
#ifdef HAVE_CJSON
    peers[count++] = {"cjson", by_cjson};
#endif
#ifdef HAVE_JSONC
    peers[count++] = {"jsonc", by_jsonc};
#endif
    if (find_jansson()) peers[count++] = {"jansson", by_jansson};
    return peers;
}
