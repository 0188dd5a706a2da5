/* capture.c - writes the request of a turn as JSON: PHI_EV_TURN_REQUEST, emitted once a turn,
   before the first attempt. "provenance" has the origin of each message. */
#include "features/features_in.h"

/* A message of the run's input, with the kind of input. */
typedef struct phi__heard {
    uint64_t seq;
    phi_input input;
} phi__heard;

/* The feature's state of a run. */
typedef struct phi__capture {
    uint32_t emitted;  /* number of turns whose request was emitted */
    phi__heard *heard; /* steering and follow-ups; separately allocated */
    size_t count, cap;
} phi__capture;

static bool phi__capture_heard(phi__run *run, phi__capture *capture, phi_input input) {
    phi__heard *heard;
    if (!run->agent->desc.options.capture_requests ||
        (input != PHI_INPUT_STEERING && input != PHI_INPUT_FOLLOW_UP))
        return true;
    heard = (phi__heard *)phi__grow(&run->agent->memory, capture->heard, &capture->cap,
                                    phi__add(capture->count, 1), sizeof *heard);
    if (heard == NULL) return false;
    capture->heard = heard;
    heard += capture->count++;
    heard->seq = run->agent->thread->log.count - 1;
    heard->input = input;
    return true;
}

/* ---- the origin of messages ---- */

static const char *phi__capture_role(const phi_message *message) {
    if (message->role == PHI_ROLE_USER) return "user-message";
    if (message->role == PHI_ROLE_TOOL_RESULT) return "tool-call-result";
    for (size_t i = 0; i < message->content_count; i++)
        if (message->content[i].kind == PHI_CONTENT_TOOL_CALL) return "tool-call-request";
    return "assistant-response";
}

static phi_input phi__capture_input(const phi__capture *capture, const phi__item *item) {
    size_t i = capture->count;
    if (item->arena == NULL || (item->flags & PHI_ITEM_SYNTHETIC) != 0) return PHI_INPUT_NONE;
    while (i > 0 && capture->heard[i - 1].seq > item->from) i--;
    return i > 0 && capture->heard[i - 1].seq == item->from ? capture->heard[i - 1].input
                                                            : PHI_INPUT_NONE;
}

static void phi__capture_origin(const phi__capture *capture, phi__buf *out, const phi__item *item,
                                size_t index) {
    const phi_message *message = item->message;
    phi_input input = phi__capture_input(capture, item);
    bool turn = input == PHI_INPUT_NONE && message->loop_id.len > 0;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"kind\":");
    phi__json_write_str(out, phi_str_of(turn                           ? "loop-turn"
                                        : input == PHI_INPUT_STEERING  ? "steering"
                                        : input == PHI_INPUT_FOLLOW_UP ? "follow-up"
                                                                       : "unknown"));
    if (turn) { /* writes the turn, the role, and the message's index within the turn */
        phi__records_u64(out, "turn_index", message->turn_index);
        phi__records_str(out, "role", phi_str_of(phi__capture_role(message)));
        phi__records_u64(out, "message_index", index);
    }
    phi__buf_char(out, '}');
}

static void phi__capture_origins(const phi__run *run, const phi__capture *capture, phi__buf *out) {
    const phi__request_spec *spec = &run->attempt.spec;
    const phi_message *last = NULL;
    size_t index = 0;
    for (size_t i = 0; i < spec->item_count; i++) {
        const phi_message *message = spec->items[i].message;
        bool same = last != NULL && last->turn_index == message->turn_index &&
                    phi_str_equal(last->loop_id, message->loop_id);
        if (message->role == PHI_ROLE_EXTENSION) continue;
        index = same ? index + 1 : 0;
        phi__capture_origin(capture, out, &spec->items[i], index);
        last = message;
    }
}

/* ---- the request ---- */

static void phi__capture_tools(phi__run *run, phi__buf *out) {
    const phi__request_spec *spec = &run->attempt.spec;
    for (size_t i = 0; i < spec->tool_count; i++) {
        const phi__tool_view *tool = &spec->tools[i];
        phi__json_write_comma(out);
        phi__buf_text(out, "{\"name\":");
        phi__json_write_str(out, tool->name);
        phi__buf_text(out, ",\"description\":");
        phi__json_write_str(out, tool->description);
        phi__buf_text(out, ",\"parameters\":");
        phi__message_put_value(out, tool->schema, &run->arena);
        if (tool->is_raw) {
            phi__buf_text(out, ",\"raw\":");
            phi__message_put_value(out, tool->raw, &run->arena);
        }
        phi__buf_char(out, '}');
    }
}

static void phi__capture_format(phi__run *run, phi__buf *out) {
    const phi_format *format = phi__run_format_of(run);
    phi__buf_text(out, ",\"response_format\":{\"kind\":");
    switch (format->kind) {
    case PHI_FORMAT_TEXT: phi__buf_text(out, "\"text\""); break;
    case PHI_FORMAT_JSON_OBJECT: phi__buf_text(out, "\"json-object\""); break;
    case PHI_FORMAT_JSON_SCHEMA:
        phi__buf_text(out, "\"json-schema\",\"name\":");
        phi__json_write_str(out, phi_str_of(format->name));
        phi__buf_text(out, ",\"schema\":");
        phi__message_put_value(out, phi_str_of(format->schema), &run->arena);
        phi__buf_text(out, ",\"strict\":");
        phi__json_write_bool(out, format->strict);
        break;
    }
    phi__buf_char(out, '}');
}

static void phi__capture_settings(phi__run *run, phi__buf *out) {
    static const char *const levels[] = {"off", "minimal", "low", "medium", "high", "xhigh", "max"};
    const phi__request_spec *spec = &run->attempt.spec;
    size_t level = (size_t)spec->thinking < PHI__COUNT(levels) ? (size_t)spec->thinking : 0;
    phi__records_str(out, "model_id", phi_str_of(spec->model->id));
    phi__records_str(out, "thinking_level", phi_str_of(levels[level]));
    phi__records_u64(out, "max_tokens",
                     spec->max_tokens != 0 ? spec->max_tokens : spec->model->max_tokens);
    if (spec->temperature >= 0)
        phi__records_double(out, "temperature", spec->temperature);
    else
        phi__records_raw(out, "temperature", "null");
    phi__capture_format(run, out);
}

static bool phi__capture_emit(phi__run *run, phi__capture *capture) {
    phi__buf out;
    if (!run->agent->desc.options.capture_requests || capture->emitted > run->turn.index)
        return true;
    phi__buf_init(&out, &run->agent->memory);
    phi__buf_text(&out, "{\"system_prompt\":");
    phi__json_write_str(&out, run->attempt.spec.system_prompt);
    phi__buf_text(&out, ",\"messages\":[");
    const phi__request_spec *spec = &run->attempt.spec;
    for (size_t i = 0; i < spec->item_count; i++) {
        if (spec->items[i].message->role == PHI_ROLE_EXTENSION) continue;
        phi__json_write_comma(&out);
        phi__message_put(&out, spec->items[i].message, &run->arena);
    }
    phi__buf_text(&out, "],\"provenance\":[");
    phi__capture_origins(run, capture, &out);
    phi__buf_text(&out, "],\"tools\":[");
    phi__capture_tools(run, &out);
    phi__buf_char(&out, ']');
    phi__capture_settings(run, &out);
    phi__buf_char(&out, '}');
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_TURN_REQUEST;
    event.text = phi__buf_str(&out);
    bool emitted = !out.failed && phi__events_emit(run->agent, &event);
    phi__buf_free(&out);
    if (emitted) capture->emitted = run->turn.index + 1;
    return emitted;
}

static phi__state phi__capture_take(phi__moment *moment) {
    phi__capture *capture = (phi__capture *)moment->run_state;
    bool done = true;
    switch (moment->point) {
    case PHI__POINT_SAID: done = phi__capture_heard(moment->run, capture, moment->input); break;
    case PHI__POINT_REQUEST: done = phi__capture_emit(moment->run, capture); break;
    case PHI__POINT_RUN_FREED:
        phi__free(&moment->agent->memory, capture->heard, capture->cap * sizeof *capture->heard);
        capture->heard = NULL;
        break;
    default: break;
    }
    return done ? PHI__RUN_ON : PHI__RUN_LOST;
}

static bool phi__capture_wants(const phi__run *run) {
    return run->agent->desc.options.capture_requests;
}

PHI_API const phi__feature *phi_feature_capture(void) {
    enum { points = PHI__POINT_SAID | PHI__POINT_REQUEST | PHI__POINT_RUN_FREED };
    static const phi__feature feature = {points,
                                         sizeof(phi__capture),
                                         0,
                                         phi__capture_take,
                                         phi__capture_wants,
                                         PHI__FEATURE_AT_CAPTURE,
                                         NULL,
                                         NULL};
    return &feature;
}
