// The panel that says what something is to the request, and what can be done
// about it; and when a request without a place could start.

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

let asking = 0; // the timer of the question below

// drawWhen says of a request that is refused or waits when it could start, and what
// would make that sooner. It is asked once the picture is there, for the request is
// decided many times again. It stands below the picture, so that the answer moves
// nothing that somebody is about to point at.
function drawWhen(a) {
  clearTimeout(asking);
  const outcome = a.step >= 0 ? a.steps[a.step].outcome : "";
  const box = $("when"), tell = (starts, sooner, notes) => {
    box.querySelector("p").textContent = starts;
    box.querySelector("ul").replaceChildren(...sooner.map((s) => el("li", { textContent: s })));
    box.querySelector("ul").previousElementSibling.hidden = sooner.length === 0;
    box.querySelector("div").replaceChildren(...notes.map((n) => el("p", { className: "muted", textContent: n })));
  };
  box.hidden = !a.waits || (outcome !== "refused" && outcome !== "waits");
  box.dataset.state = "";
  if (box.hidden) return;
  tell("…", [], []);
  asking = setTimeout(() => {
    const w = ask({ document: $("document").value, step: a.step, when: true }).when;
    if (!w) { box.hidden = true; return; }
    tell(w.starts, w.sooner || ["no single change was found that gives it a place now"], w.notes || []);
    box.dataset.state = "shown";
  }, 30);
}
