// Storms: whether tasks can stop each other for ever.

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
