"use strict";

// The page asks a Go program, the function preempt, about a document: what its
// requests come to, and what one of them looks like. It draws the answer. What
// one does in the picture becomes a change of the document's text, and the
// document is asked about again. So the text is all the state there is, beside
// the step that is shown.

const $ = (id) => document.getElementById(id);
const documents = JSON.parse($("documents").textContent);

let step = -1; // that is shown; below 0: the first with victims
let shown = null; // the last answer without mistakes
let history = []; // the texts before each change that was made in the picture
let chosen = ""; // what the panel is about, as kind:name

// ask asks the program.
function ask(question) {
  const begin = performance.now();
  const answer = JSON.parse(preempt(JSON.stringify(question)));
  document.body.dataset.took = String(performance.now() - begin);
  return answer;
}

// el makes an element with properties, of which those with a dash are
// attributes, and things in it.
function el(name, props = {}, ...inside) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (key.includes("-") || key === "role" || key === "draggable" || key === "style") e.setAttribute(key, value);
    else e[key] = value;
  }
  e.append(...inside);
  return e;
}

// refresh asks about the text as it is, and draws the answer.
function refresh() {
  const begin = performance.now();
  const text = $("document").value;
  const answer = ask({ document: text, step });
  number(text, answer.mistakes || []);
  tellMistakes(answer.mistakes || []);
  $("right").classList.toggle("stale", Boolean(answer.mistakes));
  if (!answer.mistakes) {
    shown = answer;
    step = answer.step;
    draw(answer);
  }
  document.body.dataset.drawn = String(performance.now() - begin);
  document.body.dataset.state = answer.mistakes ? "mistakes" : "shown";
}

// number writes the numbers of the lines, and marks those with mistakes.
function number(text, mistakes) {
  const wrong = new Map(mistakes.map((m) => [m.line, m.text]));
  const lines = [];
  const count = text.split("\n").length;
  for (let n = 1; n <= count; n++) {
    lines.push(el("div", { textContent: n, className: wrong.has(n) ? "wrong" : "", title: wrong.get(n) || "" }));
  }
  $("gutter").replaceChildren(...lines);
  $("gutter").scrollTop = $("document").scrollTop;
  $("document").setAttribute("aria-invalid", String(mistakes.length > 0));
}

// tellMistakes lists the mistakes. Each leads to its line.
function tellMistakes(mistakes) {
  $("mistakes").replaceChildren(...mistakes.map((m) => el("li", {},
    el("button", { type: "button", textContent: `line ${m.line}: ${m.text}`, onclick: () => goTo(m.line) }))));
}

// goTo selects a line.
function goTo(line) {
  const area = $("document");
  const lines = area.value.split("\n");
  const from = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
  area.focus();
  area.setSelectionRange(from, from + (lines[line - 1] || "").length);
  area.scrollTop = Math.max(0, (line - 6) * 18);
}

// draw draws an answer.
function draw(a) {
  $("note").textContent = a.note || "";
  $("warnings").replaceChildren(...(a.warnings || []).map((w) => el("li", { textContent: "warning: " + w })));
  const steps = a.steps || [];
  $("steps").replaceChildren(...steps.map((s, i) => el("option", {
    value: i, selected: i === a.step, textContent: `${i + 1}. ${s.title}${s.outcome ? ": " + s.outcome : ""}`,
  })));
  $("steps").disabled = steps.length === 0;
  $("before").disabled = a.step <= 0;
  $("after").disabled = a.step >= steps.length - 1;
  $("words").textContent = a.words || "nothing is asked";
  $("explained").textContent = a.why || "nothing to explain";
  const s = a.scene;
  $("headline").textContent = s.headline;
  $("verdict").textContent = s.verdict;
  $("remarks").textContent = (s.remarks || []).join("; ");
  drawRelax(s.relax || []);
  const focused = document.activeElement && document.activeElement.dataset && document.activeElement.dataset.what;
  drawQueues(s);
  drawNodes(s);
  drawLegend(s);
  if (focused) {
    const again = document.querySelector(`[data-what="${CSS.escape(focused)}"]`);
    if (again) again.focus();
  }
  panel(chosen);
}

// drawRelax lists the rules without which there would be a place.
function drawRelax(all) {
  $("relax").hidden = all.length === 0;
  $("relax").querySelector("ul").replaceChildren(...all.map((r) => el("li", {}, r.change
    ? el("button", { type: "button", textContent: r.text, title: "Relax this rule in the document", onclick: () => set(r.change.at, r.change.value) })
    : el("span", { textContent: r.text }))));
}

// percent is how far an amount reaches on a line that stands for a whole.
const percent = (amount, whole) => Math.max(0, Math.min(100, 100 * amount / Math.max(1, whole)));

// pointed makes an element say what it is about, in the panel.
function pointed(e, kind, name) {
  e.dataset.what = `${kind}:${name}`;
  e.addEventListener("mouseenter", () => panel(e.dataset.what));
  e.addEventListener("focus", () => panel(e.dataset.what));
  e.addEventListener("mouseleave", () => panel(chosen));
  return e;
}

function drawQueues(s) {
  const of = s.type ? `, in ${s.type}` : "";
  $("queues").replaceChildren(el("p", { className: "column", textContent: "queues" + of }), ...s.queues.map((q) => drawQueue(s, q)));
}

function drawQueue(s, q) {
  const name = pointed(el("button", {
    type: "button", className: "name", textContent: q.name, title: q.title,
    style: `--tint: var(--${q.tint}); padding-left: ${10 * Math.min(q.depth, 5)}px`, onclick: () => choose(`queue:${q.path}`),
  }), "queue", q.path);
  const bars = el("div", { className: "bars" });
  const lane = (className, ...parts) => {
    let from = 0;
    for (const [color, amount] of parts) {
      const left = percent(from, s.whole), width = percent(from + amount, s.whole) - left;
      if (width > 0) bars.append(el("i", { className, style: `left:${left}%;width:${width}%;background:var(--${color})` }));
      from += amount;
    }
  };
  lane("first", [q.tint, q.stays], ["goes", q.goes], ["leaves", q.leaves]);
  lane("then", [q.tint, q.stays], ["comes", q.comes]);
  if (q.max && q.max.amount <= s.whole) bars.append(el("span", { className: "most", style: `left:${percent(q.max.amount, s.whole)}%` }));
  if (q.guaranteed) bars.append(handle(s, q, bars));
  return el("div", { className: "queue" + (q.asks ? " asks" : "") }, name,
    el("div", {}, el("div", { className: "account", textContent: q.account }), bars));
}

// notch is the step in which guarantees are moved: a round amount of about a
// fortieth of the whole.
function notch(whole) {
  let n = 1;
  while (n * 40 < whole) n *= (String(n)[0] === "2") ? 2.5 : 2;
  return n;
}

// handle is the mark of a guarantee, which can be moved.
function handle(s, q, bars) {
  const h = el("button", {
    type: "button", className: "guarantee" + (q.guarantee ? "" : " fixed"), style: `left:${percent(q.guaranteed.amount, s.whole)}%`,
    title: `guaranteed ${q.guaranteed.text}`, role: "slider", "aria-label": `guarantee of ${q.path}`,
    "aria-valuemin": "0", "aria-valuemax": String(s.whole), "aria-valuenow": String(q.guaranteed.amount), "aria-valuetext": q.guaranteed.text,
  });
  h.dataset.what = `guarantee:${q.path}`;
  if (!q.guarantee) return h;
  const step = notch(s.whole);
  const put = (amount) => set(q.guarantee.at, Math.max(0, Math.round(amount / step) * step) + s.suffix);
  h.addEventListener("keydown", (e) => {
    const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step }[e.key];
    if (!by) return;
    e.preventDefault();
    put(q.guaranteed.amount + by);
  });
  h.addEventListener("pointerdown", (e) => {
    const box = bars.getBoundingClientRect();
    const at = (e) => Math.max(0, Math.min(1, (e.clientX - box.left) / box.width));
    let share = null;
    h.setPointerCapture(e.pointerId);
    h.onpointermove = (e) => { share = at(e); h.style.left = `${100 * share}%`; };
    h.onpointerup = h.onpointercancel = () => {
      h.onpointermove = h.onpointerup = h.onpointercancel = null;
      if (share !== null) put(share * s.whole);
    };
  });
  return h;
}

function drawNodes(s) {
  const of = s.type ? `, in ${s.type}` : "";
  $("nodes").replaceChildren(el("p", { className: "column", textContent: "nodes" + of }), ...s.nodes.map(drawNode));
}

function drawNode(n) {
  const head = pointed(el("button", { type: "button", textContent: n.name, title: n.name, onclick: () => choose(`node:${n.name}`) }), "node", n.name);
  const lane = (tasks) => el("div", { className: "lane" }, ...tasks.map((t) => drawTask(t, n.whole)));
  const e = el("div", { className: "node" + (n.chosen ? " chosen" : "") },
    el("div", { className: "head" }, head, el("span", { className: "about", textContent: n.about.join(", ") })), lane(n.tasks));
  if (n.comes) e.append(lane(n.comes));
  e.dataset.node = n.name;
  e.addEventListener("dragover", (event) => { event.preventDefault(); e.classList.add("over"); });
  e.addEventListener("dragleave", () => e.classList.remove("over"));
  e.addEventListener("drop", (event) => {
    event.preventDefault();
    e.classList.remove("over");
    const task = find(`task:${event.dataTransfer.getData("text/plain")}`);
    if (task && task.node) set(task.node.at, n.name);
  });
  return e;
}

const marks = { goes: "× ", comes: "+ " };

function drawTask(t, whole) {
  const look = /^t\d$|^inner$/.test(t.part) ? "" : " " + t.part;
  const e = pointed(el("button", {
    type: "button", className: "task" + look + (t.spared ? " spared" : ""), textContent: (marks[t.part] || "") + t.key, title: t.title,
    style: `--tint: var(--${t.part}); flex: 0 0 ${percent(t.size, whole)}%`, draggable: t.node ? "true" : "false",
    onclick: () => { choose(`task:${t.key}`); if (t.part === "goes" && t.protect) set(t.protect.at, t.protect.value); },
  }), "task", t.key);
  e.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", t.key));
  return e;
}

// drawLegend explains what is drawn, and nothing else.
function drawLegend(s) {
  const parts = new Set(s.nodes.flatMap((n) => [...n.tasks, ...(n.comes || [])].map((t) => t.part)));
  const item = (text, style, className = "") => el("span", {}, el("b", { style, className }), text);
  const all = [];
  if (parts.has("goes")) all.push(item("a victim", "background:var(--goes)"));
  if (parts.has("comes")) all.push(item("who comes", "background:var(--comes)"));
  if (parts.has("leaves")) all.push(item("leaving already", "background:var(--leaves)"));
  if (parts.has("held")) all.push(item("a place that is held", "border:1px dashed var(--comes)"));
  if (s.nodes.some((n) => n.tasks.some((t) => t.spared))) all.push(item("opted out", "border:2px solid var(--accent)"));
  if (s.queues.some((q) => q.guaranteed)) all.push(item("guaranteed", "background:var(--fore)", "line"));
  if (s.queues.some((q) => q.max && q.max.amount <= s.whole)) all.push(item("max", "", "dash"));
  if (s.queues.some((q) => q.stays + q.goes + q.leaves + q.comes > 0)) all.push(el("span", { textContent: "upper bar: before, lower bar: after" }));
  $("legend").replaceChildren(...all);
}

// find returns what a name of the panel stands for.
function find(what) {
  const at = what.indexOf(":"), kind = what.slice(0, at), name = what.slice(at + 1);
  const s = shown && shown.scene;
  if (!s) return null;
  if (kind === "queue") return s.queues.find((q) => q.path === name);
  if (kind === "node") return s.nodes.find((n) => n.name === name);
  if (kind === "task") return s.nodes.flatMap((n) => [...n.tasks, ...(n.comes || [])]).find((t) => t.key === name);
  return null;
}

function choose(what) { chosen = what; panel(what); }

const untouched = $("why").innerHTML;

// panel says what something is to the request that is shown, and what can be
// done about it.
function panel(what) {
  const thing = what && find(what);
  if (!thing) { $("why").innerHTML = untouched; return; }
  const kind = what.slice(0, what.indexOf(":"));
  const title = kind === "node" ? `${thing.name}: ${thing.about.join(", ")}` : thing.title;
  const acts = el("div", { className: "acts" });
  if (kind === "task") actsOf(thing, acts);
  $("why").replaceChildren(el("p", { textContent: title }), el("p", { className: "muted", textContent: shown.scene.explained ? thing.why || "it plays no part" : "" }), acts);
}

function actsOf(t, acts) {
  if (t.protect) {
    acts.append(el("button", { type: "button", textContent: t.spared ? "Do not protect" : "Protect", onclick: () => set(t.protect.at, t.protect.value) }));
  }
  if (!t.node) { if (t.part !== "comes") acts.append(el("span", { className: "muted", textContent: "It came with a request: change that." })); return; }
  const select = el("select", { "aria-label": `move ${t.key} to`, onchange: (e) => { if (e.target.value) set(t.node.at, e.target.value); } },
    el("option", { value: "", textContent: "Move to …" }), ...shown.scene.nodes.filter((n) => !n.tasks.includes(t)).map((n) => el("option", { value: n.name, textContent: n.name })));
  acts.append(select);
}

// set changes one value of the document's text.
function set(at, value) {
  const before = $("document").value;
  const answer = ask({ document: before, set: { at, value } });
  if (answer.mistakes) { say(answer.mistakes[0].text); return; }
  history.push(before);
  $("undo").disabled = false;
  $("document").value = answer.document;
  refresh();
}

// explore asks whether the tasks of the document can stop each other for ever.
function explore() {
  const answer = ask({ document: $("document").value, storm: true });
  const s = answer.storm;
  const block = (title, ...more) => el("div", {}, el("p", { textContent: title }), ...more);
  stopPlaying();
  if (!s) $("storms").replaceChildren(block("The document has mistakes."));
  else if (s.whyNot) $("storms").replaceChildren(block(`This document cannot be explored: ${s.whyNot}.`));
  else $("storms").replaceChildren(
    s.inside ? block(`From inside the starving queue: a storm. After ${s.inside.steps.length} steps all is as it was.`, player(s.inside))
      : block("From inside the starving queue: no storm here, either."),
    s.storm ? block("As the rules are: a storm.", player(s.storm))
      : block(`As the rules are: it always comes to rest. There are ${s.states} states, and no order of starts and plans comes back to one of them.`));
}

let playing = 0;

function stopPlaying() {
  clearInterval(playing);
  playing = 0;
}

// player shows a storm step by step, for ever.
function player(story) {
  let running, at, round;
  const chips = el("div", { className: "player" });
  const said = el("p", { className: "muted" });
  const show = (starts, stops) => chips.replaceChildren(...story.tasks.map((t, i) => el("span", {
    textContent: t, title: running[i] ? "runs" : "waits",
    className: "chip " + (i === starts ? "comes" : stops.includes(i) ? "goes" : running[i] ? "runs" : "waits"),
  })));
  const begin = () => {
    [running, at, round] = [[...story.running], 0, 1];
    said.textContent = "In the beginning.";
    show(-1, []);
  };
  const next = () => {
    if (at === story.steps.length) [running, at, round] = [[...story.running], 0, round + 1];
    const s = story.steps[at++];
    s.stops.forEach((i) => { running[i] = false; });
    running[s.starts] = true;
    const taken = s.stops.map((i) => story.tasks[i]).join(", ");
    said.textContent = `Round ${round}, step ${at} of ${story.steps.length}: ${story.tasks[s.starts]} ` + (taken ? `takes the place of ${taken}.` : "starts in free room.");
    show(s.starts, s.stops);
  };
  const play = el("button", { type: "button", textContent: "Play", onclick: () => {
    const was = playing;
    stopPlaying();
    if (!was) { next(); playing = setInterval(next, 900); }
    play.textContent = playing ? "Stop" : "Play";
  } });
  begin();
  return el("div", {}, chips, said, el("div", { className: "player" }, play, el("button", { type: "button", textContent: "Step", onclick: next })));
}

// load shows another document.
function load(text, at = -1) {
  stopPlaying();
  $("storms").replaceChildren();
  history = [];
  $("undo").disabled = true;
  chosen = "";
  step = at;
  $("document").value = text;
  $("document").scrollTop = 0;
  refresh();
}

function say(text) {
  $("said").textContent = text;
}

// A link holds the document in its fragment, compressed and in letters that
// need no escape.
async function squeezed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function expanded(letters) {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

async function link() {
  window.history.replaceState(null, "", `#d=${await squeezed($("document").value)}&s=${step}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("The link is in the address.");
  }
}

// restore shows the document of the fragment, or the first example.
async function restore() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  try {
    if (fragment.get("d")) {
      $("examples").value = "";
      load(await expanded(fragment.get("d")), Number(fragment.get("s") ?? -1));
      return;
    }
  } catch {
    say("The link holds no document.");
  }
  load(documents[0]);
}

function listen() {
  const titles = documents.map((d) => JSON.parse(d).name);
  $("examples").replaceChildren(...titles.map((t, i) => el("option", { value: i, textContent: t })));
  $("examples").addEventListener("change", (e) => load(documents[Number(e.target.value)]));
  let timer = 0;
  $("document").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(refresh, 60); });
  $("document").addEventListener("scroll", () => { $("gutter").scrollTop = $("document").scrollTop; });
  const show = (i) => { step = i; refresh(); };
  $("steps").addEventListener("change", (e) => show(Number(e.target.value)));
  $("before").addEventListener("click", () => show(step - 1));
  $("after").addEventListener("click", () => show(step + 1));
  $("undo").addEventListener("click", () => {
    $("document").value = history.pop();
    $("undo").disabled = history.length === 0;
    refresh();
  });
  $("link").addEventListener("click", link);
  $("explore").addEventListener("click", explore);
  window.addEventListener("hashchange", restore);
}

async function start() {
  const packed = Uint8Array.from(atob($("wasm").textContent.trim()), (c) => c.charCodeAt(0));
  const program = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const go = new Go();
  const ready = new Promise((done) => addEventListener("preempt", done, { once: true }));
  const { instance } = await WebAssembly.instantiate(program, go.importObject);
  go.run(instance);
  await ready;
  listen();
  await restore();
}

start().catch((err) => { say(`The page could not start: ${err}`); throw err; });
