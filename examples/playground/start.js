// What listens to what, and the start of it all.

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
  $("types").addEventListener("change", (e) => { type = e.target.value; refresh(); });
  $("all").addEventListener("click", () => { all = true; refresh(); });
  $("card").addEventListener("toggle", drawCard);
  for (const b of document.querySelectorAll("[data-save]")) b.addEventListener("click", () => save(b.dataset.save));
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
