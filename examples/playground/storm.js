// Storms: whether tasks can stop each other for ever.

// explore asks whether the tasks of the document can stop each other for ever,
// and shows what they do.
function explore() {
  const answer = ask({ document: $("document").value, storm: true });
  const s = answer.storm;
  const tell = (text, ...more) => $("storms").replaceChildren(el("p", { textContent: text }), ...more);
  stopPlaying();
  if (!s) return tell("The document has mistakes.");
  if (s.whyNot) return tell(`This document cannot be explored: ${s.whyNot}.`);
  const every = `There are ${s.states} states, and no order of starts and plans comes back to one of them.`;
  if (s.storm) return tell("As the rules are: a storm.", player(s.storm));
  if (s.inside) return tell(`Without the rule of the starving queue there is a storm: after ${s.inside.steps.length} steps all is as it was. With the rule it always comes to rest. ${every} Play the storm, and then switch the rule on.`, player(s.inside));
  return tell(`It always comes to rest, even if asks might take from inside the starving queue. ${every}`, player(s.rest));
}

let playing = 0;

function stopPlaying() {
  clearInterval(playing);
  playing = 0;
}

// player shows a story step by step: a storm for ever, or, while the rule of the
// starving queue is on, the longest way to rest from where it is.
function player(story) {
  const storms = story.steps.length > 0, rests = story.rests || [];
  let place, at, round, stopped, way; // way: the steps to rest, while the rule is on
  const stage = el("div", { className: "stage" });
  const box = (name, className) => stage.appendChild(el("div", { className }, el("b", { textContent: name })));
  const boxes = story.nodes.map((n) => box(n, "place"));
  const waits = box("waits", "place waiting");
  const chips = story.tasks.map((t) => el("span", { textContent: t }));
  const said = el("p", { role: "status" });
  const count = el("p", { className: "muted" });

  const show = (text, starts = -1, stops = []) => {
    const before = chips.map((c) => c.isConnected && c.getBoundingClientRect());
    chips.forEach((c, i) => {
      (place[i] < 0 ? waits : boxes[place[i]]).append(c);
      c.className = "chip " + (i === starts ? "comes" : stops.includes(i) ? "goes" : place[i] < 0 ? "waits" : "runs");
      c.title = place[i] < 0 ? "waits" : "runs";
    });
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) chips.forEach((c, i) => slide(c, before[i]));
    said.textContent = text;
    count.textContent = `Stopped so far: ${stopped}.`;
  };
  const carry = (s) => {
    s.stops.forEach((i) => { place[i] = -1; stopped++; });
    place[s.starts] = s.on;
    const taken = s.stops.map((i) => story.tasks[i]).join(", ");
    return `${story.tasks[s.starts]} ` + (taken ? `takes the place of ${taken}.` : `starts in free room on ${story.nodes[s.on]}.`);
  };
  const next = () => {
    let s, where;
    if (rule.checked) {
      way = way || { steps: rests[at % Math.max(1, story.steps.length)], at: 0 };
      s = way.steps[way.at];
      if (!s) { halt(); show("At rest: nobody can start, and nobody may be stopped for another."); return; }
      where = `Step ${++way.at} of ${way.steps.length} to rest`;
    } else {
      if (at === story.steps.length) [at, round] = [0, round + 1];
      s = story.steps[at++];
      where = `Round ${round}, step ${at} of ${story.steps.length}`;
    }
    show(`${where}: ${carry(s)}`, s.starts, s.stops);
  };
  const begin = () => {
    halt();
    [place, at, round, stopped, way] = [[...story.place], 0, 1, 0, null];
    show("In the beginning.");
  };
  const halt = () => { stopPlaying(); play.textContent = "Play"; };
  const play = el("button", { type: "button", textContent: "Play", onclick: () => {
    if (playing) { halt(); return; }
    stopPlaying();
    playing = setInterval(next, 900);
    play.textContent = "Stop";
    next();
  } });
  // A storm goes on from its beginning once the rule is off again: where it came
  // to rest is no part of it.
  const rule = el("input", { type: "checkbox", checked: !storms, disabled: !storms || !rests.length, onchange: () => { if (way) begin(); } });
  begin();
  return el("div", {}, el("div", { className: "player" }, play, el("button", { type: "button", textContent: "Step", onclick: next }),
    el("button", { type: "button", textContent: "From the beginning", onclick: begin }), el("label", {}, rule, " the rule of the starving queue")), stage, said, count);
}

// slide lets an element come from where it was.
function slide(e, from) {
  if (!from) return;
  const to = e.getBoundingClientRect();
  if (from.left === to.left && from.top === to.top) return;
  e.animate([{ transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)` }, { transform: "none" }], { duration: 350, easing: "ease-out" });
}
