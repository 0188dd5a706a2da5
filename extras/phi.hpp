/* phi.hpp - phi.h for C++17 and newer: RAII, lambdas as tools and hooks, range-for - opt-in, MIT as phi.h

       phi::tool look{"look", "Looks at a place", schema, [&](phi::call c) { return town.look(c.arg("place", "inn")); }};
       phi::agent smith(rt, desc, {look});                                        (docs/cpp.md, examples/npc.cpp)

   LIFETIME    A runtime and its agents move, convert to what they own (phi_wake(rt), phi_stop(smith)), and go in any order.
               Captured state lives as long as its agent. Callbacks may destroy agents, and the runtime in its rt.step().
   EXCEPTIONS  None passes through phi. A tool's (start, step, resume) is the call's result: its what(), as a failure for
               the model. Those of hooks (which count as PHI_DENY), of cancel and on_field, and of tools whose call is over
               already are rethrown by rt.step(), after phi_step has returned: the first of a step. Step on then.
               Constructors throw phi::error; with -fno-exceptions they leave an empty object. */
#ifndef PHI_HPP
#define PHI_HPP
#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "phi.hpp needs C++17 or newer: compile with -std=c++17"
#endif
#include "phi.h"
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
namespace phi {
inline std::string_view view(phi_str s) { return {s.at, s.len}; }
inline phi_str str(std::string_view s) { return {s.data(), s.size()}; } /* borrows it */
/* The text blocks of a message, one behind the other. */
inline std::string text(const phi_message &message) {
    std::string all;
    for (size_t i = 0; i < message.content_count; i++)
        if (message.content[i].kind == PHI_CONTENT_TEXT) all += view(message.content[i].text);
    return all;
}

struct error : std::runtime_error { /* what(): the message of phi_last_error */
    explicit error(phi_error e) : std::runtime_error(e.message), status(e.status) {}
    phi_status status;
};

/* A call of a tool: may be kept and answered later. arg() returns an argument in the type of the
   fallback, or the fallback where there is none, or one of another type or range. */
struct call : phi_call {
    call(phi_call c) : phi_call(c) {}
    std::string arg(const char *at, const char *f) const { return phi_call_arg_str(*this, at, f); }
    std::string arg(const char *at, const std::string &f) const { return arg(at, f.c_str()); }
    double arg(const char *at, double f) const { return phi_call_arg_num(*this, at, f); }
    bool arg(const char *at, bool f) const { return phi_call_arg_bool(*this, at, f); }
    int64_t arg(const char *at, int64_t f) const { return phi_call_arg_int(*this, at, f); }
    int arg(const char *at, int f) const {
        int64_t n = phi_call_arg_int(*this, at, f);
        return n >= INT32_MIN && n <= INT32_MAX ? static_cast<int>(n) : f;
    }
    phi_status reply(const std::string &s) const { return phi_call_reply(*this, s.c_str()); }
    phi_status fail(const std::string &s) const { return phi_call_fail(*this, s.c_str()); }
};

/* What a tool returns: a text, failed(text), or a phi_flow: PHI_PENDING, the result comes later, or
   PHI_DONE, it was given by call.reply or its like. */
struct result {
    template <class T> result(const T &answer, bool bad = false) : text(answer), is_error(bad) {}
    result(phi_flow f) : flow(f), given(false) {}
    std::string text;
    phi_flow flow = PHI_DONE;
    bool given = true, is_error = false;
};
inline result failed(const std::string &text) { return {text, true}; }
/* A tool. An agent has a copy of it, captured state included. */
struct tool {
    std::string name, description, schema; /* a JSON Schema; "": none is declared */
    std::function<result(call)> start, step = {}, resume = {}; /* as in phi_tool */
    std::function<void(call)> cancel = {};
    std::function<void(const phi_field *)> on_field = {};
    phi_tool desc = {}; /* the rest of phi_tool: timeout_ms, not_concurrent, needs_approval... */
};
/* A hook; what it puts into `reply` becomes hook.reply. */
using hook_fn = std::function<phi_verdict(phi_hook &hook, std::string &reply)>;

namespace detail {
inline void raise([[maybe_unused]] phi_error last) {
#if defined(__cpp_exceptions)
    throw error(last);
#endif
}

/* f(), or failed(what()) inside the handler of its exception. */
template <class F, class G> auto guarded(F f, [[maybe_unused]] G failed) noexcept {
#if defined(__cpp_exceptions)
    try {
        return f();
    } catch (const std::exception &e) {
        return failed(e.what());
    } catch (...) {
        return failed("an exception that is no std::exception");
    }
#else
    return f();
#endif
}

/* A range of all that next() returns, up to NULL. */
template <class F> struct range {
    F next;
    struct cursor {
        range *of;
        decltype(std::declval<F &>()()) at;
        auto &operator*() const { return *at; }
        cursor &operator++() { return at = of->next(), *this; }
        bool operator!=(const cursor &other) const { return at != other.at; }
    };
    cursor begin() { return {this, next()}; }
    cursor end() { return {this, nullptr}; }
};
template <class F> range(F) -> range<F>;
/* A runtime; its owner has it, and a step while it runs. */
struct core {
    phi_runtime *rt;
    std::exception_ptr kept;                /* to be rethrown when the step ends */
    std::set<std::shared_ptr<void>> states; /* of its agents: phi_runtime_free calls them back */
    ~core() { phi_runtime_free(rt); }
};

/* What an agent's callbacks use. Each of them holds it, for it may destroy the agent. */
struct state : std::enable_shared_from_this<state> {
    struct slot : tool {
        state *owner;
    };
    std::weak_ptr<detail::core> core;
    phi_agent handle = {};
    std::vector<phi_tool> tools;
    std::vector<slot> slots;
    hook_fn on_hook;
    std::string reply; /* of the hook that returned last, for phi to copy */
    phi_agent get() const { return core.expired() ? phi_agent{} : handle; }
    void keep() const {
        auto to = core.lock();
        if (to && !to->kept) to->kept = std::current_exception();
    }
    template <auto which, class... A> static phi_flow flow(void *user_data, phi_call c, A...) {
        slot *s = static_cast<slot *>(user_data);
        auto held = s->owner->shared_from_this();
        auto run = [&] {
            result r = (s->*which)(c);
            if (r.given) (void)(r.is_error ? phi_call_fail : phi_call_reply)(c, r.text.c_str());
            return r.flow;
        };
        return guarded(run, [&](const char *what) {
            if (phi_call_fail(c, what) != PHI_OK) held->keep();
            return PHI_DONE;
        });
    }
    template <auto which, class A> static void notice(void *user_data, A about) {
        slot *s = static_cast<slot *>(user_data);
        auto held = s->owner->shared_from_this();
        guarded([&] { (s->*which)(about); }, [&](const char *) { held->keep(); });
    }
    static phi_verdict hooked(void *user_data, phi_hook *at) {
        auto held = static_cast<state *>(user_data)->shared_from_this();
        std::string reply;
        auto denied = [&](const char *) { return reply.clear(), held->keep(), PHI_DENY; };
        phi_verdict verdict = guarded([&] { return held->on_hook(*at, reply); }, denied);
        held->reply.swap(reply);
        if (!held->reply.empty()) at->reply = str(held->reply);
        return verdict;
    }
    void add(tool &&made) {
        slot &s = slots.emplace_back(slot{std::move(made), this});
        phi_tool &c = tools.emplace_back(s.desc);
        c.name = s.name.c_str();
        c.description = s.description.c_str();
        c.schema = s.schema.empty() ? nullptr : s.schema.c_str();
        c.start = flow<&tool::start, phi_str>;
        c.step = s.step ? flow<&tool::step> : nullptr;
        c.resume = s.resume ? flow<&tool::resume, phi_str> : nullptr;
        c.cancel = s.cancel ? notice<&tool::cancel, phi_call> : nullptr;
        c.on_field = s.on_field ? notice<&tool::on_field, const phi_field *> : nullptr;
        c.user_data = &s;
    }
};
} // namespace detail

struct runtime {
    explicit runtime(phi_runtime_desc desc = {}) : core_(new detail::core{}) {
        const char *why = "";
        desc.error = &why;
        core_->rt = phi_runtime_new(&desc);
        if (!core_->rt) detail::raise({PHI_BAD_ARG, why});
    }
    runtime(runtime &&) noexcept = default;
    runtime &operator=(runtime &&) noexcept = default;
    operator phi_runtime *() const { return core_ ? core_->rt : nullptr; }
    /* phi_step; throws what a callback threw meanwhile, and phi::error where phi_step fails. */
    int step(int timeout_ms = 0) {
        auto core = core_; /* a callback may destroy or move this object */
        int runs = phi_step(*this, timeout_ms);
        if (runs < 0) detail::raise(phi_last_error(*this));
        if (runs >= 0 && core->kept) std::rethrow_exception(std::exchange(core->kept, nullptr));
        return runs;
    }
    /* The events that wait. Each is popped when the loop comes to it, and is valid until the next;
       what it points to is valid until the next step. After a break the rest still wait. */
    auto events() const {
        return detail::range{[core = core_, event = phi_event{}]() mutable {
            return core && phi_next_event(core->rt, &event) ? &event : nullptr;
        }};
    }
    std::shared_ptr<detail::core> core_;
};

struct agent {
    agent() = default; /* none; assign one later */
    /* Its tools follow those of the desc; on_hook is called at desc.hook_points. make: what makes
       the agent, where that is not phi_agent_new (phi_agent_restore). */
    agent(runtime &rt, phi_agent_desc desc, std::vector<tool> tools = {}, hook_fn on_hook = {},
          std::function<phi_agent(phi_runtime *, const phi_agent_desc *)> make = {})
        : state_(std::make_shared<detail::state>()) {
        state_->core = rt.core_;
        state_->tools.assign(desc.tools, desc.tools + desc.tool_count);
        state_->slots.reserve(tools.size()); /* phi has pointers to them */
        for (tool &t : tools) state_->add(std::move(t));
        desc.tools = state_->tools.data();
        desc.tool_count = state_->tools.size();
        if (on_hook) desc.hook_fn = detail::state::hooked, desc.hook_user_data = state_.get();
        state_->on_hook = std::move(on_hook);
        if (rt) rt.core_->states.insert(state_);
        state_->handle = make ? make(rt, &desc) : phi_agent_new(rt, &desc);
        if (state_->handle.rt) return;
        if (rt) rt.core_->states.erase(state_);
        detail::raise(phi_last_error(rt));
    }
    agent(agent &&) noexcept = default;
    agent &operator=(agent other) noexcept { return state_.swap(other.state_), *this; }
    ~agent() {
        phi_agent_free(*this);
        if (auto core = state_ ? state_->core.lock() : nullptr) core->states.erase(state_);
    }
    operator phi_agent() const { return state_ ? state_->get() : phi_agent{}; }
    explicit operator bool() const { return phi_agent_alive(*this); }
    [[nodiscard]] phi_status prompt(const std::string &s) { return phi_prompt(*this, s.c_str()); }
    /* The messages, oldest first, those that the model no longer sees as well; each is valid as
       phi_thread_message_at says. The loop comes to messages that are added meanwhile. */
    auto history() const {
        return detail::range{[s = state_, i = size_t(0)]() mutable {
            phi_thread *thread = phi_agent_thread(s ? s->get() : phi_agent{});
            auto *message = phi_thread_message_at(thread, i);
            if (!message && i < phi_thread_message_count(thread))
                detail::raise(phi_last_error(s->handle.rt));
            return i++, message;
        }};
    }
    std::shared_ptr<detail::state> state_;
};

/* An object of phi's and the function that frees it. It goes before its runtime. */
template <class T, auto free_fn>
using owned = std::unique_ptr<T, std::integral_constant<decltype(free_fn), free_fn>>;
using thread = owned<phi_thread, phi_thread_free>; /* phi::thread log(phi_thread_new(rt, 0)); */
struct arena : phi_arena {                         /* &arena, for functions that want one */
    arena() { phi_arena_init(this, nullptr, 0); }
    arena(arena &&) = delete;
    ~arena() { phi_arena_free(this); }
};
} // namespace phi
#endif
