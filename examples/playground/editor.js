// The text of the document: its lines, its mistakes, and changes of it.

let numbered = ""; // the lines and mistakes that the numbers show: a long document has many

// number writes the numbers of the lines, and marks those with mistakes.
function number(text, mistakes) {
  const wrong = new Map(mistakes.map((m) => [m.line, m.text]));
  const lines = [];
  const count = text.split("\n").length;
  const now = JSON.stringify([count, mistakes]);
  if (now === numbered) return;
  numbered = now;
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

// set changes one value of the document's text. Undo takes that back.
function set(at, value) {
  const before = $("document").value;
  if (change(at, value)) remember(before);
}

// change changes one value of the document's text, and reports whether it could.
function change(at, value) {
  const begin = performance.now();
  const answer = ask({ document: $("document").value, set: { at, value }, step, type, all });
  if (!answer.document) { say(answer.mistakes[0].text); return false; }
  $("document").value = answer.document;
  show(answer.document, answer, begin);
  return true;
}

// remember keeps a text for Undo.
function remember(text) {
  history.push(text);
  $("undo").disabled = false;
}

// load shows another document.
function load(text, at = -1) {
  stopPlaying();
  $("storms").replaceChildren();
  history = [];
  $("undo").disabled = true;
  chosen = type = "";
  all = false;
  step = at;
  $("document").value = text;
  $("document").scrollTop = 0;
  refresh();
}

function say(text) {
  $("said").textContent = text;
}
