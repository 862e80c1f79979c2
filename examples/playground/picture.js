// The picture: queues on the left, nodes on the right.

// draw draws an answer.
function draw(a) {
  $("note").textContent = a.note || "";
  $("warnings").replaceChildren(...(a.warnings || []).map((w) => el("li", { textContent: "warning: " + w })));
  const steps = a.steps || [];
  $("steps").replaceChildren(...steps.map((s, i) => el("option", {
    value: i, selected: i === a.step, textContent: `${s.title}${s.outcome ? ": " + s.outcome : ""}`,
  })));
  $("steps").disabled = steps.length === 0;
  $("before").disabled = a.step <= 0;
  $("after").disabled = a.step >= steps.length - 1;
  $("words").textContent = a.words || "nothing is asked";
  $("explained").textContent = a.why || "nothing to explain";
  const s = a.scene;
  $("types").replaceChildren(...s.types.map((t) => el("option", { value: t, textContent: t, selected: t === s.type })));
  $("types").disabled = s.types.length < 2;
  $("rest").hidden = !s.more;
  $("rest").querySelector("span").textContent = `${s.more} more nodes have less to do with it.`;
  $("storm").hidden = !a.explorable;
  $("card").hidden = !s.card;
  drawCard();
  $("headline").textContent = s.headline;
  $("verdict").textContent = s.verdict;
  $("remarks").textContent = (s.remarks || []).join("; ");
  drawRelax(s.relax || []);
  drawWhen(a);
  const focused = document.activeElement && document.activeElement.dataset && document.activeElement.dataset.what;
  drawQueues(s);
  drawNodes(s);
  drawBudgets(s.budgets || []);
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

// drawBudgets draws a bar for each budget: how many of its tasks may still stop,
// and how many do.
function drawBudgets(all) {
  $("budgets").hidden = all.length === 0;
  $("budgets").querySelector("div").replaceChildren(...all.map((b) => {
    const whole = Math.max(b.left, b.victims, 1);
    return el("div", { className: "budget" }, el("div", { className: "bars" },
      el("i", { className: "only goes-mark", style: `left:0;width:${percent(b.victims, whole)}%` }),
      el("span", { className: "limit", style: `left:${percent(b.left, whole)}%` })), el("span", { textContent: b.text }));
  }));
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

// hatched are the parts whose look is more than a colour.
const hatched = new Set(["goes", "leaves"]);

function drawQueues(s) {
  const of = s.type ? `, in ${s.type}` : "";
  $("queues").replaceChildren(el("p", { className: "column", textContent: "queues" + of }), ...s.queues.map((q) => drawQueue(s, q)));
}

function drawQueue(s, q) {
  const name = pointed(el("button", {
    type: "button", className: "name", textContent: q.name, title: q.title,
    "data-letter": q.letter || "", style: `--tint: var(--${q.tint}); padding-left: ${10 * Math.min(q.depth, 5)}px`, onclick: () => choose(`queue:${q.path}`),
  }), "queue", q.path);
  const bars = el("div", { className: "bars" });
  const lane = (className, ...parts) => {
    let from = 0;
    for (const [color, amount] of parts) {
      const left = percent(from, s.whole), width = percent(from + amount, s.whole) - left;
      if (width > 0) bars.append(el("i", { className: `${className} ${color}-mark`, style: `left:${left}%;width:${width}%;` + (hatched.has(color) ? "" : `background:var(--${color})`) }));
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
    e.preventDefault();
    h.focus();
    drag(bars.getBoundingClientRect(), (share) => Math.round(share * s.whole / step) * step + s.suffix, q.guarantee.at);
  });
  return h;
}

// drag lets a value of the document follow the pointer until that is let go. The
// picture is drawn anew at every notch, so it is the window that listens.
function drag(box, valueAt, at) {
  const before = $("document").value;
  let last = null;
  const move = (e) => {
    const value = valueAt(Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)));
    if (value !== last) change(at, last = value);
  };
  const done = () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", done);
    removeEventListener("pointercancel", done);
    if ($("document").value !== before) remember(before);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", done);
  addEventListener("pointercancel", done);
}

function drawNodes(s) {
  const of = s.type ? `, in ${s.type}` : "";
  const all = [el("p", { className: "column", textContent: "nodes" + of })];
  let group = "", frame = null;
  for (const n of s.nodes) {
    if (n.group && n.group !== group) {
      frame = el("div", { className: "domain", role: "group", "aria-label": n.group }, el("p", { textContent: n.group }));
      all.push(frame);
    }
    group = n.group;
    if (!n.group) frame = null;
    if (frame) frame.append(drawNode(s, n)); else all.push(drawNode(s, n));
  }
  $("nodes").replaceChildren(...all);
}

// mostCells is how many units a node may have whose units are drawn one by one,
// as those of GPUs are.
const mostCells = 16;

function drawNode(s, n) {
  const cells = s.suffix === "" && n.whole > 1 && n.whole <= mostCells;
  const head = pointed(el("button", { type: "button", textContent: n.name, title: n.name, onclick: () => choose(`node:${n.name}`) }), "node", n.name);
  const lane = (tasks) => el("div", { className: cells ? "lane cells" : "lane", style: `--n: ${n.whole}` }, ...tasks.map((t) => drawTask(t, n.whole)));
  const e = el("div", { className: "node" + (n.chosen ? " chosen" : n.out ? " out" : "") },
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
    type: "button", className: "task" + look + ["spared", "blocks", "falls", "kept"].filter((c) => t[c]).map((c) => " " + c).join(""), textContent: (marks[t.part] || "") + t.key, title: t.title,
    "data-letter": t.letter, style: `--n: ${Math.max(1, t.size)}; --tint: var(--${t.part}); flex: 0 0 ${percent(t.size, whole)}%`, draggable: t.node ? "true" : "false",
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
  if (parts.has("goes")) all.push(item("× a victim", "", "goes-mark"));
  if (parts.has("comes")) all.push(item("+ who comes", "background:var(--comes)"));
  if (parts.has("leaves")) all.push(item("leaving already", "", "leaves-mark"));
  if (parts.has("held")) all.push(item("a place that is held", "border:1px dashed var(--comes)"));
  const some = (what) => s.nodes.some((n) => n.tasks.some((t) => t[what]));
  if (some("spared")) all.push(item("◇ opted out", "border:3px double var(--fore)"));
  if (some("blocks")) all.push(item("blocks the node", "border:2px solid var(--fore)"));
  if (some("falls")) all.push(item("stops with its whole job", "border-bottom:3px solid var(--fore)"));
  if (some("kept")) all.push(item("kept by a hard budget", "border:2px dotted var(--fore)"));
  if (s.nodes.some((n) => n.out)) all.push(item("a node where it may not run", "background:var(--out);border:1px dashed var(--line)"));
  if (s.queues.some((q) => q.letter)) all.push(el("span", { textContent: "letters and colours: the queue of a task" }));
  if (document.querySelector(".cells")) all.push(el("span", { textContent: `a cell: 1 ${s.type}` }));
  if (s.queues.some((q) => q.guaranteed)) all.push(item("guaranteed", "background:var(--fore)", "line"));
  if (s.queues.some((q) => q.max && q.max.amount <= s.whole)) all.push(item("max", "", "dash"));
  if (s.queues.some((q) => q.stays + q.goes + q.leaves + q.comes > 0)) all.push(el("span", { textContent: "upper bar: before, lower bar: after" }));
  $("legend").replaceChildren(...all);
}
