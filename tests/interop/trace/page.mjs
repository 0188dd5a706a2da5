// Opens the pages of PHI_TRACE_HTML in headless Chromium: nothing is loaded, nothing attacked runs, keyboard, search,
// axe-core, 10,000 entries timed, and pictures in light and dark.
//     node trace_page.mjs DIRECTORY_OF_PAGES
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";
import { createRequire } from "node:module";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const dir = resolve(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let passed = 0, failed = 0;
const check = (held, what) => {
  if (held) passed++;
  else {
    failed++;
    console.log("FAIL " + what);
  }
};

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || (await chromium.executablePath()), args: [...chromium.args, "--no-sandbox"], headless: "shell" });
console.log("opened in " + (await browser.version()));

const open = async (name, scheme = "light") => {
  const page = await browser.newPage();
  const url = pathToFileURL(join(dir, name)).href, asked = [], said = [];
  await page.setViewport({ width: 1280, height: 800 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  page.on("request", r => { if (r.url() !== url) asked.push(r.url()); });
  page.on("pageerror", e => said.push(String(e)));
  page.on("console", m => { if (m.type() === "error" || m.type() === "warn") said.push(m.text()); });
  const from = performance.now();
  await page.goto(url, { waitUntil: "load" });
  await page.waitForSelector("#tree [role=treeitem]");
  return { page, asked, said, ms: performance.now() - from };
};
const count = (page, css) => page.$$eval(css, all => all.length);
const said = page => page.$eval("#said", e => e.textContent);
const title = page => page.$eval("#detail h2", e => e.textContent);
const active = page => page.$eval("#tree", e => { const a = document.getElementById(e.getAttribute("aria-activedescendant")); return a ? a.textContent : ""; });
const axed = async (page, name) => {
  // the page's policy keeps scripts out: the check is put in from outside
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  check(found.violations.length === 0, name + ": axe: " + found.violations.map(v => v.id + " " + v.nodes.slice(0, 2).map(n => n.html.slice(0, 120) + n.failureSummary).join("; ")).join(" | "));
  return found.passes.length;
};

// ---- a story ----
for (const scheme of ["light", "dark"]) {
  const { page, asked, said: words } = await open("story.html", scheme);
  check(await page.$eval("html", e => e.dataset.theme) === scheme, "the page is " + scheme);
  const rules = await axed(page, "story " + scheme);
  if (scheme === "light") console.log("axe-core: " + rules + " rules hold");
  await page.focus("#tree");
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  await page.keyboard.press("Home");
  for (let i = 0; i < 60 && !(await active(page)).startsWith("▾run") && !(await active(page)).startsWith("▸run"); i++) await page.keyboard.press("ArrowDown");
  check((await title(page)).startsWith("run: The date tests fail"), "arrows reach the first run: " + (await title(page)));
  check((await page.$$eval("#detail .line", all => all.length)) === 9, "its time line has four turns and five calls");
  await axed(page, "run " + scheme);
  await page.screenshot({ path: join(dir, "run-" + scheme + ".png"), clip: { x: 0, y: 0, width: 1280, height: 760 } });
  for (let i = 0; i < 2 && !(await title(page)).startsWith("turn"); i++) await page.keyboard.press("ArrowRight");
  check((await title(page)).startsWith("turn: 1"), "right opens a run and goes to its first turn: " + (await title(page)));
  check((await page.$eval("#detail", e => e.textContent)).includes("What the request held"), "a turn shows its request");
  await axed(page, "turn " + scheme);
  await page.keyboard.press("ArrowLeft");
  check((await title(page)).startsWith("run: The date"), "left goes back to the run");
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => document.activeElement.id) === "detail", "enter goes to the details");
  await page.keyboard.press("Escape");
  check(await page.evaluate(() => document.activeElement.id) === "tree", "escape goes back to the tree");
  check(await count(page, "#tree [aria-expanded=true]") > 0 && await count(page, "#tree [aria-selected=true]") === 1, "rows say their state");
  // the sub-agent's run stands below the call
  await page.type("#find", "who reads dates");
  await page.keyboard.press("Enter");
  check((await said(page)).startsWith("1 result for"), "a search says how many: " + (await said(page)));
  check(await page.evaluate(() => document.activeElement.id) === "hits", "enter goes to the results");
  check((await title(page)).startsWith("model: Two hours apart"), "the first result is shown: " + (await title(page)));
  await page.keyboard.press("Escape");
  check(!(await page.$eval("#tree", e => e.hidden)), "escape ends the search");
  await page.focus("#tree");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  check((await active(page)).includes("researcher"), "below the answer is its call: " + (await active(page)));
  for (let i = 0; i < 2 && !(await active(page)).includes("agent"); i++) await page.keyboard.press("ArrowRight");
  check((await active(page)).includes("agent"), "below the call is the sub-agent's run: " + (await active(page)));
  check((await page.$eval("#detail", e => e.textContent)).includes("You look things up"), "with its system prompt");
  await page.screenshot({ path: join(dir, "agent-" + scheme + ".png") });
  // a later run of the lead has the prompt of its first one
  await page.type("#find", "Is there a release note");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.focus("#tree");
  for (let i = 0; i < 4 && !(await title(page)).startsWith("run:"); i++) await page.keyboard.press("ArrowLeft");
  check((await page.$eval("#detail", e => e.textContent)).includes("careful engineer"), "a run shows a prompt that did not change: " + (await title(page)));
  // after a compaction the request holds a summary, and what it stands for
  await page.type("#find", "Write it, then");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.focus("#tree");
  await page.keyboard.press("ArrowLeft");
  const held = await page.$eval("#detail", e => e.textContent);
  check(held.includes("summary of 1–6, compaction"), "a request says that it held a summary");
  check(/Cost\$0\.0/.test(held) || held.includes("$"), "a turn has its cost");
  check(held.includes("cached"), "and its cache hits");
  await page.screenshot({ path: join(dir, "turn-" + scheme + ".png") });
  // Tab reaches everything, and the focus is seen
  await page.focus("#find");
  const seen = [];
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press("Tab");
    seen.push(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName));
  }
  check(seen.includes("theme") && seen.includes("tree") && seen.includes("BUTTON"), "tab goes through: " + seen.join(" "));
  check(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle) !== "none", "the focus is seen");
  await page.select("#theme", scheme === "light" ? "dark" : "light");
  check(await page.$eval("html", e => e.dataset.theme) !== scheme, "the switch changes the colours");
  check(asked.length === 0, "nothing is loaded: " + asked.join(" "));
  check(words.length === 0, "nothing goes wrong: " + words.join(" | "));
  await page.close();
}

// ---- a policy that leaves messages out ----
{
  const { page, said: words } = await open("policy.html");
  await page.type("#find", "Dates without zone are UTC");
  await page.keyboard.press("Enter");
  const held = await page.$eval("#detail", e => e.textContent);
  check(held.includes("no room in the budget") && held.includes("of a budget of"), "a request says what the policy left out");
  check(/left out by the policy: \d+/.test(held), "and how much");
  await page.click("#detail .held .link"); // the summary goes to its rewrite
  check((await title(page)).startsWith("rewrite: compaction"), "a summary leads to its rewrite: " + (await title(page)));
  check((await page.$eval("#detail", e => e.textContent)).includes("Entries 1 to 6, summed up as"), "which says what it stands for");
  check(words.length === 0, "nothing goes wrong: " + words.join(" "));
  await page.close();
}

// ---- an attack in every text ----
{
  const { page, asked, said: words } = await open("hostile.html");
  await page.focus("#tree");
  for (let i = 0; i < 60; i++) await page.keyboard.press(i % 3 === 2 ? "ArrowRight" : "ArrowDown");
  for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowUp");
  await page.type("#find", "script");
  await page.keyboard.press("Enter");
  for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowDown");
  check(await page.evaluate(() => window.hacked) === undefined, "no script of the thread ran");
  check(await count(page, "img, iframe, object, #detail script, #tree script, h1 *, #hits script") === 0, "no element came from the thread");
  check(await page.title() === "Hostile", "the title is text");
  check((await said(page)).includes("result"), "hostile texts are found: " + (await said(page)));
  check(asked.length === 0 && words.length === 0, "nothing is loaded, nothing goes wrong: " + asked.concat(words).join(" "));
  await axed(page, "hostile");
  await page.close();
}

// ---- what no agent writes: times, counts and names out of range, ids that come again, 1,000 lanes ----
{
  const { page, said: words } = await open("odd.html");
  check((await page.$eval("#sums", e => e.textContent)).includes("Tool calls6"), "calls whose ids come again are counted: " + (await page.$eval("#sums", e => e.textContent)));
  await page.type("#find", "two of 1");
  await page.keyboard.press("Enter");
  check((await title(page)).startsWith("call: second"), "a result stands at its call: " + (await title(page)));
  check(!(await page.$eval("#detail", e => e.textContent)).includes("no result"), "and is shown with it");
  await page.keyboard.press("Escape");
  const rows = await page.evaluate(() => { // every row is opened, and shown
    const box = document.getElementById("tree"), key = k => box.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
    let n = 0, last = "";
    for (key("Home"); n < 5000; n++) {
      key("ArrowRight");
      key("ArrowDown");
      if (box.getAttribute("aria-activedescendant") === last) break;
      last = box.getAttribute("aria-activedescendant");
    }
    return n;
  });
  check(rows > 1000, "all rows of 1,000 lanes are shown: " + rows);
  await page.setViewport({ width: 320, height: 640 });
  check(await page.evaluate(() => document.documentElement.scrollWidth <= 320 && document.getElementById("detail").scrollWidth <= 320), "320 pixels are enough");
  const devtools = await page.createCDPSession(); // puppeteer does not know this feature
  await devtools.send("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }] });
  check(await page.$eval("#tree .row.at", e => getComputedStyle(e).borderTopStyle) === "solid", "where the system has its own colours a border marks the row");
  await devtools.send("Emulation.setEmulatedMedia", { media: "print", features: [] });
  check(await page.evaluate(() => getComputedStyle(document.querySelector("nav")).display === "none" && getComputedStyle(document.querySelector("#detail pre") ||
    document.querySelector("#detail").appendChild(document.createElement("pre"))).maxHeight === "none"), "on paper texts are whole");
  check(words.length === 0, "nothing goes wrong: " + words.join(" | "));
  await page.close();
}

// ---- 10,000 entries ----
{
  const bytes = statSync(join(dir, "big.html")).size;
  const { page, asked, said: words, ms } = await open("big.html");
  check((await said(page)).includes("10,000 entries"), "the page has 10,000 entries: " + (await said(page)));
  check(bytes <= 12e6, "it has at most 12 MB: " + bytes);
  check(await count(page, "#tree .row") < 80, "only rows in sight are drawn");
  const timed = async (q, want) => page.evaluate(async (q, want) => {
    const box = document.getElementById("find");
    box.value = q;
    const from = performance.now();
    document.getElementById("form").requestSubmit();
    const text = document.getElementById("said").textContent;
    return { ms: performance.now() - from, good: text.startsWith(want), text };
  }, q, want);
  const first = await timed("step 2047:", "1 result");
  check(first.good, "a text is found among 10,000 entries: " + first.text);
  check(await page.$eval("#detail h2", e => e.textContent.startsWith("model: Step 2047")), "and shown");
  const again = await timed("position that was good", "");
  await page.keyboard.press("Escape");
  await page.focus("#tree");
  const end = await page.evaluate(() => { const from = performance.now(); document.getElementById("tree").dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true })); return performance.now() - from; });
  const turn = await page.evaluate(() => { // the request of the last turn is made of all the changes before it
    const from = performance.now();
    for (let i = 0; i < 2; i++) document.getElementById("tree").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
    return performance.now() - from;
  });
  await axed(page, "big");
  check(asked.length === 0 && words.length === 0, "nothing is loaded, nothing goes wrong: " + asked.concat(words).join(" "));
  console.log(`10,000 entries: ${(bytes / 1e6).toFixed(1)} MB, opened in ${ms.toFixed(0)} ms, first search ${first.ms.toFixed(0)} ms, ` +
    `the next ${again.ms.toFixed(0)} ms, to the end ${end.toFixed(0)} ms, two rows up ${turn.toFixed(0)} ms`);
  await page.screenshot({ path: join(dir, "big.png") });
  await page.close();
}
await browser.close();
console.log(`trace page: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
