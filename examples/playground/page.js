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
let type = ""; // that lengths are of; "": what the request is short of
let all = false; // all nodes are shown, and not only those that matter most
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
  show(text, ask({ document: text, step, type, all }), begin);
}

// show draws the answer about a text.
function show(text, answer, begin) {
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
