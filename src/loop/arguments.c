/* arguments.c - checks a call's arguments against its tool's schema. */
#include "loop/loop_in.h"
#include "text/json_in.h"
#include "text/schema_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

/* Of a strict tool: arguments without the nulls that stand for absent properties. */
PHI__FN phi_status phi__arguments_without_nulls(phi__toolcall *call) {
    phi_arena *arena = &call->run->arena;
    phi_memory *memory = arena->memory;
    phi_json *schema = NULL, *arguments = NULL;
    phi_arena scratch;
    phi_status status;
    phi__buf text;
    phi_arena_init(&scratch, memory, 0);
    phi__buf_init(&text, memory);
    status = phi_json_parse(&scratch, call->arguments, PHI_JSON_BORROW, &arguments, NULL);
    if (status == PHI_OK)
        status = phi_json_parse(&scratch, phi_str_of(call->tool->schema), PHI_JSON_BORROW, &schema,
                                NULL);
    if (status == PHI_OK && call->rt->features.formats->nulls(schema, arguments) > 0) {
        status = phi__json_write(&text, arguments, 0);
        if (text.failed ||
            (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&text), &call->arguments)))
            status = PHI_NO_MEMORY;
    }
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return status == PHI_NO_MEMORY ? status : PHI_OK; /* the check reports text that is no JSON */
}

/* Whether the arguments fit the tool's schema; else a message for the model. */
PHI__FN bool phi__arguments_fit(phi__toolcall *call, char *words, size_t size) {
    phi_arena *arena = &call->run->arena;
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *arguments = NULL, *schema = NULL;
    phi_parse_error parse;
    phi_schema_error error;
    phi_status status = phi_json_parse(arena, call->arguments, PHI_JSON_BORROW, &arguments, &parse);
    bool fit = false;
    if (status == PHI_OK && !call->tool->checks_arguments)
        status =
            phi_json_parse(arena, phi_str_of(call->tool->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_NO_MEMORY)
        (void)snprintf(words, size, "Out of memory");
    else if (status != PHI_OK)
        (void)snprintf(words, size, "Invalid arguments: not JSON, at column %u: %s",
                       (unsigned)parse.column, parse.message);
    else if (!phi_json_is(arguments, PHI_JSON_OBJECT))
        (void)snprintf(words, size, "Invalid arguments: expected object, got %s",
                       phi__json_get_type_name(arguments));
    else if (schema != NULL &&
             phi__schema_check(arena->memory, schema, arguments, "arguments", &error) != PHI_OK)
        (void)snprintf(words, size, "Invalid arguments: %s", error.message);
    else
        fit = true;
    phi_arena_reset(arena, mark);
    return fit;
}
