"use strict";
/* Draws a trace. All text of the thread goes through textContent: it may be anything. */
(() => {
const byId = id => document.getElementById(id);
const on = (what, name, run) => what.addEventListener(name, run);
const make = (tag, cls, text) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};
const [treeBox, hitBox, detail, find, theme] = ["tree", "hits", "detail", "find", "theme"].map(byId);
const data = JSON.parse(byId("data").textContent);
const MESSAGE = 1, REWRITE = 2, LANE = 3, SWITCH = 4, START = 5, END = 6, TURN = 7, TURN_END = 8, SPAWN = 9, NOTE = 10, GONE = 11;
const ROLES = ["", "user", "model", "result", "extension"];
const VERDICTS = ["sent", "sent, its results cut", "not included by the policy", "beyond max_turns", "beyond max_messages",
  "no room in the budget", "no user message before it", "", "", "no part of a request"];

/* ---- words ---- */
const num = n => Math.round(n).toLocaleString("en-US");
const money = d => d ? "$" + (d < 0.1 ? d.toPrecision(2) : d.toFixed(2)) : "";
const took = ms => ms < 1000 ? ms + " ms" : ms < 60000 ? (ms / 1000).toFixed(1) + " s" :
  ms < 3600000 ? Math.floor(ms / 60000) + " min " + Math.round(ms % 60000 / 1000) + " s" : (ms / 3600000).toFixed(1) + " h";
const when = ms => ms > 0 && ms < 8e15 ? new Date(ms).toISOString().replace("T", " ").slice(0, 23) : "";
const plural = (n, one, many) => num(n) + " " + (n === 1 ? one : many || one + "s");
const short = (s, n) => { s = s.slice(0, 4 * n).replace(/\s+/g, " ").trim(); return s.length > n ? s.slice(0, n) + "…" : s; };
const input = u => u[0] + u[2] + u[3];
const hits = u => u && u[2] ? Math.round(100 * u[2] / input(u)) + "% cached" : "";
const usage = u => u ? num(input(u)) + " in, " + num(u[1]) + " out" : "";
const joined = (...parts) => parts.filter(Boolean).join(" · ");
const textOf = m => m.c.map(c => c.k === 1 ? c.t : "").filter(Boolean).join(" ");
const preview = m => short(textOf(m), 90) || m.c.map(c => c.k === 4 ? "calls " + c.a : c.k === 2 ? "an image" : c.k === 3 ? "thinking" : "")
  .filter(Boolean).slice(0, 4).join(", ") || (m.error ? short(m.error, 90) : "(no text)");

/* ---- the tree ---- */
const node = (kind, thread, up, more) => {
  const n = Object.assign({ kind, thread, up, kids: [], open: false }, more);
  if (up) up.kids.push(n);
  return n;
};
const add = (a, u) => { if (u) for (let i = 0; i < 5; i++) a[i] += u[i]; return a; };

const turnOf = (run, n, e) => {
  let turn = run.turns.get(n);
  if (!turn) run.turns.set(n, turn = node("turn", run.thread, run, { n, from: e.at, to: e.at, cost: 0, calls: [] }));
  turn.to = Math.max(turn.to, e.at);
  return turn;
};
/* Some models count the ids of their calls anew in each answer: the first call of the latest that has them. */
const callOf = (T, e, id, free) => {
  const all = T.ids.get(e.run + "\0" + id) || [], last = all[all.length - 1];
  if (!last) return undefined;
  let i = all.length - 1;
  while (i > 0 && all[i - 1].e === last.e) i--;
  return all.slice(i).find(free);
};
const addMessage = (T, up, e) => {
  const m = e.m;
  if (m.o === 3) {
    const call = callOf(T, e, m.i, c => !c.result);
    if (call) { call.result = e; T.nodes.set(e.s, call); return; }
  }
  const n = node("entry", T, up, { e });
  T.nodes.set(e.s, n);
  if (m.o !== 2) return;
  if (up.kind === "turn") up.answer = e;
  for (const c of m.c) if (c.k === 4) {
    const call = node("call", T, n, { e, c });
    const key = e.run + "\0" + c.i, same = T.ids.get(key);
    T.calls.push(call);
    if (same) same.push(call); else T.ids.set(key, [call]);
    if (up.calls) up.calls.push(call);
  }
};
const addOfRun = (T, run, e) => {
  run.to = Math.max(run.to, e.at);
  if (e.k === END) {
    run.end = e;
    if (e.u) run.u = e.u;
  } else if (e.k === TURN_END) {
    const turn = turnOf(run, e.n, e);
    turn.end = e;
    turn.u = e.u;
    turn.cost = e.$ || 0;
    run.cost += turn.cost;
    if (!run.end) run.u = add(run.u || [0, 0, 0, 0, 0], e.u);
  } else if (e.k === TURN) {
    const turn = turnOf(run, e.n, e);
    turn.begin = e;
    turn.from = e.at;
  } else if (e.k === MESSAGE) addMessage(T, turnOf(run, e.n, e), e);
  else if (e.k === SPAWN) { const call = callOf(T, e, e.i, c => !c.spawn); if (call) call.spawn = e; }
  else T.nodes.set(e.s, node("entry", T, run.kids[run.kids.length - 1] || run, { e }));
};
const addEntry = (T, e, at) => {
  const lane = T.lanes[at.lane] || T.lanes[0];
  if (e.v) T.views.push(e);
  if (e.k === REWRITE) T.rewrites.push(e);
  if (e.$ && e.k === REWRITE) T.cost += e.$;
  if (e.k === LANE) { lane.from = T.lanes[e.from] || null; lane.at = e.fork; }
  if (e.k === START) {
    if (e.system !== undefined) T.prompt = e;
    /* of a copy out of another log only its own prompt is known */
    const prompt = e.system !== undefined || !(e.f & 16) ? T.prompt : undefined;
    const run = node("run", T, lane, { e, id: at.run, from: e.at, to: e.at, turns: new Map(), cost: 0, prompt });
    T.runs.set(at.run, run);
    T.nodes.set(e.s, run);
  } else if (at.run && (e.k === MESSAGE || T.runs.has(at.run))) {
    let run = T.runs.get(at.run);
    if (!run) T.runs.set(at.run, run = node("run", T, lane, { e, id: at.run, from: e.at, to: e.at, turns: new Map(), cost: 0 }));
    addOfRun(T, run, e);
  } else if (e.k === MESSAGE) addMessage(T, lane, e);
  else T.nodes.set(e.s, node("entry", T, lane, { e }));
};
const build = d => {
  const T = { d, lanes: [], runs: new Map(), calls: [], ids: new Map(), nodes: new Map(), views: [], rewrites: [], cost: 0,
    first: d.entries.length ? d.entries[0].s : 0 };
  const root = T.root = node("thread", T, null, { open: true });
  T.lanes = d.lanes.map((name, i) => node("lane", T, null, { name, i, open: true, from: null, at: Infinity }));
  const at = { lane: 0, run: "" };
  for (const e of d.entries) {
    if (e.l !== undefined) at.lane = e.l;
    if (e.r !== undefined) at.run = e.r;
    e.n = e.n || 0;
    e.lane = at.lane;
    e.run = at.run;
    addEntry(T, e, at);
  }
  if (d.v) T.views.push(d);
  for (const run of T.runs.values()) T.cost += run.cost;
  if (T.lanes.length === 1) {
    root.kids = T.lanes[0].kids;
    for (const k of root.kids) k.up = root;
  } else for (const lane of T.lanes) {
    lane.up = lane.from || root;
    lane.up.kids.push(lane);
  }
  return T;
};
const threads = data.threads.map(build);
/* A run stands below the call that began it, once, and never below itself. */
const runs = new Map();
for (const T of threads) for (const [id, run] of T.runs) if (!runs.has(id)) runs.set(id, run);
for (const T of threads) for (const call of T.calls) {
  const run = call.spawn && runs.get(call.spawn.child);
  let up = call;
  while (up && up !== run) up = up.up;
  if (!run || run.claimed || up === run) continue;
  run.claimed = true;
  run.up.kids.splice(run.up.kids.indexOf(run), 1);
  run.up = call;
  call.kids.push(run);
}
const roots = threads.filter((T, i) => i === 0 || T.root.kids.some(k => k.kind === "run" || k.kids.length)).map(T => T.root);
const requests = new Map(data.requests.slice(1).map(r => [r.r + "\0" + (r.n || 0), r]));

const entryName = e => e.k === MESSAGE ? ROLES[e.m.o] : ["", "", "rewrite", "lane", "switch", "", "", "", "", "spawn", "note", "forgotten"][e.k];
const firstText = run => { for (const t of run.kids) for (const k of t.kids || []) if (k.e && k.e.m && k.e.m.o === 1) return preview(k.e.m); return ""; };
const failed = n => n.kind === "run" ? n.end && (n.end.failure || n.end.status) : n.kind === "call" ? n.result && n.result.m.bad :
  n.kind === "turn" ? n.answer && n.answer.m.error : n.e && n.e.m && (n.e.m.error || n.e.m.bad);
const callTime = n => n.result ? (n.result.m.at || n.result.at) - n.e.at : 0;
/* [kind for the tag, words, figures] */
const label = n => {
  const e = n.e;
  switch (n.kind) {
  case "thread": return ["thread", n.thread.d.title || n.thread === threads[0] && data.title || n.thread.d.id || "", plural(n.thread.d.entries.length, "entry", "entries")];
  case "lane": return ["lane", n.name, n.i === n.thread.d.active ? "active" : ""];
  case "run": return [n.up && n.up.kind === "call" ? "agent" : "run", firstText(n) || n.id,
    joined(!n.end && "not ended", usage(n.u), money(n.cost), took(n.to - n.from))];
  case "turn": return ["turn", String(n.n + 1) + (n.answer ? ": " + preview(n.answer.m) : ""),
    joined(usage(n.u), hits(n.u), money(n.cost), took(n.to - n.from))];
  case "call": return ["call", n.c.a + " " + short(n.c.t, 90), n.result ? took(callTime(n)) : "no result"];
  }
  if (e.k === MESSAGE) return [entryName(e), preview(e.m), e.m.o === 2 && e.m.stop !== "stop" && e.m.stop !== "toolUse" ? e.m.stop || "" : ""];
  if (e.k === REWRITE) return ["rewrite", e.why + (e.spans.length ? ": " + e.spans.map(s => s[0] + "–" + s[1]).slice(0, 4).join(", ") : ""), e.revoke ? "undoes " + e.revoke : ""];
  if (e.k === NOTE) return ["note", e.a + " " + short(e.t, 80), ""];
  if (e.k === LANE || e.k === SWITCH) return [entryName(e), n.thread.d.lanes[e.lane] || "", ""];
  return [entryName(e), e.k === GONE ? "entries " + e.from + " to " + (e.to - 1) : "", ""];
};

/* ---- lists that draw only the rows in sight ---- */
const ROW = 28;
class List {
  constructor(box, role, draw, pick) {
    Object.assign(this, { box, role, draw, pick, rows: [], at: -1 });
    this.inner = box.appendChild(make("div"));
    this.inner.setAttribute("role", "none");
    on(box, "scroll", () => this.paint());
    on(window, "resize", () => this.paint());
    on(box, "keydown", ev => { if (this.key(ev)) ev.preventDefault(); });
  }
  set(rows, at) {
    this.rows = rows;
    this.at = Math.min(at, rows.length - 1);
    this.inner.style.height = rows.length * ROW + "px";
    this.paint();
  }
  go(i) {
    this.at = Math.max(0, Math.min(i, this.rows.length - 1));
    const top = this.at * ROW, box = this.box;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    this.paint();
    if (this.rows.length) this.pick(this.rows[this.at]);
  }
  paint() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 4);
    const last = Math.min(this.rows.length, first + Math.ceil((this.box.clientHeight || 600) / ROW) + 8);
    const drawn = [];
    for (let i = first; i < last; i++) drawn.push(this.row(i));
    if (this.at >= 0 && (this.at < first || this.at >= last)) drawn.push(this.row(this.at));
    this.inner.replaceChildren(...drawn);
    if (this.at >= 0) this.box.setAttribute("aria-activedescendant", this.box.id + this.at);
    else this.box.removeAttribute("aria-activedescendant");
  }
  row(i) {
    const e = make("div", i === this.at ? "row at" : "row");
    e.id = this.box.id + i;
    e.setAttribute("role", this.role);
    e.setAttribute("aria-selected", String(i === this.at));
    e.style.top = i * ROW + "px";
    this.draw(e, this.rows[i], i);
    on(e, "click", () => this.go(i));
    return e;
  }
  key(ev) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, Home: 0, End: this.rows.length - 1, PageDown: this.at + page, PageUp: this.at - page }[ev.key];
    if (ev.ctrlKey || ev.altKey || ev.metaKey) return false;
    if (to !== undefined) { this.go(to); return true; }
    if (ev.key === "Enter") { detail.focus(); return true; }
    return this.other ? this.other(ev) : false;
  }
}
const rowOf = (e, n) => {
  const [tag, words, figures] = label(n);
  e.append(make("span", "tag " + (failed(n) ? "bad" : tag), tag), make("span", "what", words));
  if (figures) e.append(make("span", "more", figures));
};
const tree = new List(treeBox, "treeitem", (e, r) => {
  const n = r.n, turner = make("span", "turner", n.kids.length ? (n.open ? "▾" : "▸") : "");
  e.ariaLevel = r.level;
  e.ariaPosInSet = r.pos;
  e.ariaSetSize = r.size;
  if (n.kids.length) e.ariaExpanded = n.open;
  e.style.paddingLeft = 6 + 16 * Math.min(r.level - 1, 12) + "px";
  turner.setAttribute("aria-hidden", "true");
  on(turner, "click", ev => { ev.stopPropagation(); n.open = !n.open; flatten(n); });
  e.append(turner);
  rowOf(e, n);
}, r => show(r.n));
const flatten = at => {
  const rows = [], under = [[roots, 0]]; // lists that are not done: lanes may be thousands deep
  while (under.length) {
    const top = under[under.length - 1], [list, i] = top;
    if (i === list.length) { under.pop(); continue; }
    top[1]++;
    list[i].row = rows.length;
    rows.push({ n: list[i], level: under.length, pos: i + 1, size: list.length });
    if (list[i].open) under.push([list[i].kids, 0]);
  }
  tree.set(rows, at ? at.row : tree.at);
};
tree.other = ev => {
  const r = tree.rows[tree.at], n = r && r.n;
  if (!n) return false;
  if (ev.key === "ArrowRight") {
    if (n.kids.length && !n.open) { n.open = true; flatten(n); } else if (n.kids.length) tree.go(tree.at + 1);
  } else if (ev.key === "ArrowLeft") {
    if (n.open && n.kids.length) { n.open = false; flatten(n); } else if (n.up && n.up.row !== undefined) tree.go(n.up.row);
  } else if (ev.key === " ") { n.open = !n.open; flatten(n); }
  else return false;
  return true;
};
const reveal = n => {
  for (let up = n.up; up; up = up.up) up.open = true;
  flatten(n);
  tree.go(n.row);
};

/* ---- what a request held ---- */
const viewOf = (T, e) => {
  const at = T.views.indexOf(e);
  let c = T.cache;
  if (!c || c.at > at) c = T.cache = { at: -1, items: [] };
  while (c.at < at) {
    const [keep, gone, items] = T.views[++c.at].v;
    c.items = c.items.slice(0, keep).concat(items, c.items.slice(keep + gone));
  }
  return c.items;
};
const entryAt = (T, seq) => T.d.entries[seq - T.first];
const resolve = (T, items, i, before) => {
  const it = items[i];
  if (typeof it === "number") return { from: it, to: it, m: (entryAt(T, it) || {}).m, why: "as it is", go: it };
  const [from, to, flags] = it, own = entryAt(T, from);
  let nth = 0;
  while (i - nth > 0 && items[i - nth - 1][0] === from && items[i - nth - 1][1] === to) nth++;
  if (flags & 2) for (let k = T.rewrites.length; k-- > 0;) {
    const w = T.rewrites[k], span = w.s < before && w.spans.find(s => s[0] === from && s[1] === to && s[3][nth]);
    if (span) return { from, to, m: span[3][nth], why: (span[2] ? "summary of " : "in place of ") + (from === to ? from : from + "–" + to) + ", " + w.why, go: w.s };
  }
  return { from, to, m: own && own.m, why: flags & 1 ? "kept by every compaction" : "as it is", go: from };
};
/* Why a message of the lane is in no item of the view. */
const absent = (T, q, before) => {
  if (q.m.o === 2 && (q.m.stop === "error" || q.m.stop === "aborted")) return "a failed answer";
  const run = T.runs.get(q.run), undone = new Set();
  if (run && run.end && run.end.dropped && run.end.s < before) return "its run was taken back";
  for (let k = T.rewrites.length; k-- > 0;) {
    const w = T.rewrites[k];
    if (w.s >= before) continue;
    if (w.revoke) undone.add(w.revoke);
    else if (!undone.has(w.id) && w.spans.some(s => s[0] <= q.s && q.s <= s[1])) return "taken out: " + w.why + ", entry " + w.s;
  }
  return "not in view";
};
const missing = (T, e, items) => {
  const limits = new Map(), out = [];
  let lane = T.lanes[e.lane === undefined ? T.d.active : e.lane], upto = e.s === undefined ? Infinity : e.s;
  for (; lane && !limits.has(lane.i); lane = lane.from) { limits.set(lane.i, upto); upto = Math.min(upto, lane.at + 1); }
  let i = 0;
  for (const q of T.d.entries) {
    if (q.k !== MESSAGE || !(q.s < limits.get(q.lane))) continue;
    const to = x => typeof x === "number" ? x : x[1], from = x => typeof x === "number" ? x : x[0];
    while (i < items.length && to(items[i]) < q.s) i++;
    if (i < items.length && from(items[i]) <= q.s) continue;
    out.push({ from: q.s, to: q.s, m: q.m, why: absent(T, q, e.s === undefined ? Infinity : e.s), go: q.s, out: true });
  }
  return out;
};

/* ---- details ---- */
const facts = (box, pairs) => {
  const dl = make("dl", "facts");
  for (const [k, v, cls] of pairs) if (v) dl.append(make("dt", "", k), make("dd", cls || "", v));
  if (dl.childNodes.length) box.append(dl);
};
const block = (box, text, of, cls) => {
  const pre = make("pre", cls, text);
  pre.tabIndex = 0;
  box.append(pre);
  if (of) box.append(make("p", "cut", "The first part of " + num(of) + " bytes."));
};
const pretty = s => { try { return JSON.stringify(JSON.parse(s), null, 2); } catch (_) { return s; } };
const content = (box, m) => {
  for (const c of m.c) {
    if (c.k === 1) block(box, c.t, c["t of"]);
    else if (c.k === 3) { box.append(make("h3", "", c.redacted ? "Thinking, hidden by the provider" : "Thinking")); if (c.t) block(box, c.t, c["t of"], "thought"); }
    else if (c.k === 2) box.append(make("p", "", "An image, " + (c.mime || "") + ", " + num(c.bytes) + " bytes of base64."));
    else { box.append(make("h3", "", "Call of " + c.a + (c.cut ? ", broken off" : ""))); block(box, c["t of"] ? c.t : pretty(c.t), c["t of"]); }
  }
  if (m.error) { box.append(make("h3", "bad", "Error")); block(box, m.error, m["error of"]); }
  if (m.details) { box.append(make("h3", "", "Details for the host")); block(box, m.details, m["details of"]); }
};
/* A list of many things: a hundred, and a button for the next. */
const paged = (box, all, each, kind) => {
  const list = box.appendChild(make(kind || "div", kind ? "held" : ""));
  let n = 0;
  const next = () => { for (const end = Math.min(n + 100, all.length); n < end; n++) list.append(each(all[n])); };
  next();
  if (n >= all.length) return;
  const more = box.appendChild(make("button", "", "Show more of " + num(all.length)));
  on(more, "click", () => { const at = list.children.length; next(); more.hidden = n >= all.length; const b = list.children[at]; (b.querySelector("button") || b).focus(); });
};
const goTo = (T, seq) => { const n = T.nodes.get(seq); if (n) reveal(n); };
const heldRow = T => h => {
  const li = make("li"), go = make("button", "link", (h.from === h.to ? h.from : h.from + "–" + h.to) + " " + (h.m ? ROLES[h.m.o] + ": " + preview(h.m) : ""));
  on(go, "click", () => goTo(T, h.go));
  li.append(go, make("span", h.out ? "why out" : "why", h.why));
  return li;
};
const request = (box, T, e, key) => {
  const items = viewOf(T, e), before = e.s === undefined ? Infinity : e.s;
  const held = items.map((_, i) => resolve(T, items, i, before));
  let i = 0, left = 0;
  for (const [n, verdict] of e.g || []) for (let k = 0; k < n; k++, i++) if (verdict && held[i]) {
    held[i].why = VERDICTS[verdict];
    held[i].out = verdict > 1;
    if (verdict > 1 && verdict < 9) left++;
  }
  box.append(make("h3", "", "What the request held, and why"));
  box.append(make("p", "", plural(items.length, "message") + " in view, about " + num(e.tokens || 0) + " tokens" +
    (e.x ? "; sent: " + plural(e.x[2], "message") + ", about " + num(e.x[0]) + " tokens of " + (e.x[1] > 1e15 ? "an unlimited budget" : "a budget of " + num(e.x[1]) + " for messages") : "") +
    (left ? "; left out by the policy: " + left : "") + "."));
  paged(box, held, heldRow(T), "ul");
  const out = missing(T, e, items);
  if (out.length) { box.append(make("h3", "", "Not held: " + plural(out.length, "message"))); paged(box, out, heldRow(T), "ul"); }
  const sent = requests.get(key);
  if (sent) { box.append(make("h3", "", "The request as it was sent")); block(box, sent["t of"] ? sent.t : pretty(sent.t), sent["t of"]); }
};
const timeLine = (box, title, bars) => {
  if (!bars.length) return;
  let from = Infinity, to = 0;
  for (const b of bars) { from = Math.min(from, b.from); to = Math.max(to, b.to); }
  const span = Math.max(1, to - from);
  box.append(make("h3", "", title), make("p", "cut", plural(bars.length, "bar") + " over " + took(to - from)));
  paged(box, bars, b => {
    const line = make("button", "line"), strip = make("span", "strip"), bar = make("i", b.cls), ms = Math.max(0, b.to - b.from);
    bar.style.left = 100 * (b.from - from) / span + "%";
    bar.style.width = 100 * ms / span + "%";
    strip.append(bar);
    line.append(make("span", "what", b.name), strip, make("span", "ms", took(ms)));
    line.setAttribute("aria-label", b.name + ", after " + took(b.from - from) + ", took " + took(ms));
    on(line, "click", () => reveal(b.n));
    return line;
  });
};
const callBar = n => ({ n, name: n.c.a, cls: failed(n) ? "bad" : n.spawn ? "agent" : "tool", from: n.e.at, to: n.e.at + callTime(n) });
const turnBars = t => [{ n: t, name: "turn " + (t.n + 1), cls: failed(t) ? "bad" : "", from: t.from, to: t.answer ? t.answer.at : t.to }].concat(t.calls.map(callBar));
const runBars = list => list.map(r => ({ n: r, name: firstText(r) || r.id, cls: failed(r) ? "bad" : "", from: r.from, to: r.to }));

const showThread = (box, n) => {
  const T = n.thread, d = T.d, all = [...T.runs.values()];
  facts(box, [["Thread", d.id], ["Copy of", d.forked], ["Lanes", d.lanes.length > 1 && d.lanes.length], ["Runs", num(all.length)],
    ["Tokens", joined(usage(d.u), hits(d.u))], ["Cost", money(T.cost)]]);
  if (d.v) request(box, T, d, "");
  timeLine(box, "Runs on a time line", runBars(n.kind === "lane" ? n.kids.filter(k => k.kind === "run") : all));
};
const showRun = (box, n) => {
  const e = n.e, end = n.end || {};
  facts(box, [["Run", n.id], ["Agent", e.agent], ["Session", e.session], ["Continues", e.parent], ["Kind", e.how], ["Tag", e.tag],
    ["Began", when(n.from)], ["Took", took(n.to - n.from)], ["Ended", n.end ? end.status || "well" : "not ended", end.status ? "bad" : ""],
    ["Failure", joined(end.failure, end.http && "HTTP " + end.http), "bad"], ["Tokens", joined(usage(n.u), hits(n.u))], ["Cost", money(n.cost)]]);
  if (end.error) block(box, end.error, end["error of"]);
  timeLine(box, "Turns and tool calls on a time line", [].concat(...n.kids.filter(k => k.kind === "turn").map(turnBars)));
  const p = n.prompt;
  if (p && p.system) { box.append(make("h3", "", "System prompt")); block(box, p.system, p["system of"]); }
};
const showTurn = (box, n) => {
  const m = n.answer && n.answer.m;
  facts(box, [["Turn", n.n + 1], ["Began because of", n.begin && n.begin.how], ["Model", m && joined(m.model, m.provider)], ["Stop reason", m && m.stop],
    ["Tokens", joined(usage(n.u), n.u && n.u[4] && num(n.u[4]) + " of them reasoning")], ["Cache", n.u && (n.u[2] || n.u[3]) &&
    joined(num(n.u[2]) + " read", num(n.u[3]) + " written", hits(n.u))], ["Cost", money(n.cost)], ["Began", when(n.from)], ["Took", took(n.to - n.from)]]);
  timeLine(box, "Model call and tool calls on a time line", turnBars(n));
  if (m) { box.append(make("h3", "", "Answer")); content(box, m); }
  const asked = [n.answer, n.end, n.up.end].find(x => x && x.v) || (!n.end && !n.up.end && n.thread.d.v ? n.thread.d : null);
  if (asked) request(box, n.thread, asked, n.up.id + "\0" + n.n);
};
const showCall = (box, n) => {
  const r = n.result;
  facts(box, [["Tool", n.c.a], ["Call", n.c.i], ["Called", when(n.e.at)], ["Took", r ? took(callTime(n)) : "no result"], ["Result", r && (r.m.bad ? "an error" : "good"), r && r.m.bad ? "bad" : ""],
    ["Sub-agent's run", n.spawn && n.spawn.child], ["Its session", n.spawn && n.spawn.session]]);
  box.append(make("h3", "", "Arguments"));
  block(box, n.c["t of"] ? n.c.t : pretty(n.c.t), n.c["t of"]);
  if (r) { box.append(make("h3", "", "Result, entry " + r.s)); content(box, r.m); }
};
const showEntry = (box, n) => {
  const e = n.e, T = n.thread;
  facts(box, [["Entry", num(e.s)], ["At", when(e.at)], ["Lane", T.d.lanes.length > 1 && T.d.lanes[e.lane]], ["Durable", e.f & 1 && "yes"], ["Copied from another log", e.f & 16 && "yes"],
    ["Model", e.m ? e.m.model : e.model], ["Stop reason", e.m && e.m.stop], ["Tokens", joined(usage(e.m ? e.m.u : e.u), hits(e.m ? e.m.u : e.u))],
    ["Why", e.why], ["Rewrite", e.id], ["Undoes", e.revoke], ["Switches to", e.to], ["Cost", money(e.$)]]);
  if (e.m) content(box, e.m);
  if (e.k === NOTE) block(box, pretty(e.t), e["t of"]);
  for (const s of e.spans || []) {
    box.append(make("h3", "", "Entries " + s[0] + " to " + s[1] + (s[3].length ? (s[2] ? ", summed up as" : ", replaced by") : ", taken out")));
    for (const m of s[3]) content(box, m);
  }
  if (e.v) request(box, T, e, e.run + "\0" + e.n);
};
let shown = null;
const show = n => {
  if (n === shown) return;
  shown = n;
  const [tag, words] = label(n);
  detail.replaceChildren(make("h2", failed(n) ? "bad" : "", tag + ": " + words));
  ({ thread: showThread, lane: showThread, run: showRun, turn: showTurn, call: showCall, entry: showEntry })[n.kind](detail, n);
  detail.scrollTop = 0;
};

/* ---- search ---- */
let docs = null;
const strings = (x, out) => { if (typeof x === "string") out.push(x); else if (x && typeof x === "object") for (const v of Object.values(x)) strings(v, out); };
const makeDocs = () => threads.forEach(T => T.d.entries.forEach(e => {
  const out = [], n = T.nodes.get(e.s);
  if (!n) return;
  strings(e, out);
  docs.push({ n, s: out.join("\n").toLowerCase() });
}));
const found = new List(hitBox, "option", (e, n) => rowOf(e, n), n => show(n));
const say = s => { byId("said").textContent = s; };
const plain = () => { const c = [0, 0]; for (const T of threads) { c[0] += T.runs.size; c[1] += T.d.entries.length; } return plural(c[0], "run") + ", " + plural(c[1], "entry", "entries") + ". Arrow keys move, Enter reads, / searches."; };
const search = () => {
  const q = find.value.trim().toLowerCase();
  hitBox.hidden = !q;
  treeBox.hidden = !!q;
  if (!q) { say(plain()); if (shown) reveal(shown); return; }
  if (!docs) { docs = []; makeDocs(); }
  const hit = [...new Set(docs.filter(d => d.s.includes(q)).map(d => d.n))];
  hitBox.scrollTop = 0;
  found.set(hit, hit.length ? 0 : -1);
  say(hit.length ? plural(hit.length, "result") + " for “" + short(q, 40) + "”" : "No result for “" + short(q, 40) + "”");
};
let wait = 0;
on(find, "input", () => { clearTimeout(wait); wait = setTimeout(search, 120); });
on(byId("form"), "submit", ev => { ev.preventDefault(); clearTimeout(wait); search(); if (found.rows.length) { hitBox.focus(); found.go(0); } });
const stop = () => { find.value = ""; search(); treeBox.focus(); };
on(find, "keydown", ev => {
  if (ev.key === "Escape") stop();
  else if (ev.key === "ArrowDown" && found.rows.length && !hitBox.hidden) { ev.preventDefault(); hitBox.focus(); found.go(0); }
});
found.other = ev => ev.key === "Escape" ? (stop(), true) : false;
on(window, "keydown", ev => {
  const typing = /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
  if (ev.key === "/" && !typing) { ev.preventDefault(); find.focus(); }
  else if (ev.key === "Escape" && detail.contains(document.activeElement)) byId(hitBox.hidden ? "tree" : "hits").focus();
});

/* ---- light and dark ---- */
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => { document.documentElement.dataset.theme = theme.value || (dark.matches ? "dark" : "light"); };
on(dark, "change", paint);
on(theme, "change", paint);
paint();

/* ---- the sum of it ---- */
const all = [0, 0, 0, 0, 0], sums = [0, 0, 0];
for (const T of threads) { add(all, T.d.u); sums[0] += T.cost; for (const r of T.runs.values()) sums[1] += r.turns.size; sums[2] += T.calls.length; }
byId("title").textContent = document.title = data.title || threads[0].d.id || "phi trace";
for (const [k, v] of [["Turns", num(sums[1])], ["Tool calls", num(sums[2])], ["Tokens in", num(input(all))], ["Tokens out", num(all[1])],
  ["Cache hits", input(all) ? Math.round(100 * all[2] / input(all)) + "%" : ""], ["Cost", money(sums[0])]]) {
  if (v === "") continue;
  const d = byId("sums").appendChild(make("div"));
  d.append(make("dt", "", k), make("dd", "", v));
}
say(plain());
for (const T of threads) {
  const last = [...T.runs.values()].pop();
  if (last) last.open = last.kids.length <= 50;
}
flatten();
tree.go(0);
})();
