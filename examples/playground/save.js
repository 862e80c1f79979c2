// Files to keep and to share: the picture and the card as SVG and PNG, and the
// document as JSON.

// pictureOf returns a picture, "plan" or "card", of what is shown, as SVG.
const pictureOf = (picture) => ask({ document: $("document").value, step, type, picture }).svg;

// asImage makes an address of a picture. A picture has rules of its own for how
// things look, so it stands in an image, where they reach nothing else.
const asImage = (svg) => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);

// drawCard draws the card if that is open.
function drawCard() {
  const image = $("card").querySelector("img");
  if (!$("card").open || !shown || !shown.scene.card) return;
  image.src = asImage(pictureOf("card"));
  image.alt = `${shown.scene.headline}: ${shown.scene.verdict}`;
}

// painted returns an SVG as PNG, two dots to a pixel.
async function painted(svg) {
  const image = new Image();
  image.src = asImage(svg);
  await image.decode();
  const canvas = el("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// save gives the reader a file, as its name says.
async function save(name) {
  const [what, kind] = name.split(".");
  let content = null;
  if (kind === "json") content = new Blob([$("document").value], { type: "application/json" });
  else {
    const svg = pictureOf(what);
    if (!svg) { say("The document has mistakes."); return; }
    content = kind === "png" ? await painted(svg) : new Blob([svg], { type: "image/svg+xml" });
  }
  const file = el("a", { download: name, href: URL.createObjectURL(content) });
  file.click();
  setTimeout(() => URL.revokeObjectURL(file.href), 60000);
  say(`${name} is saved.`);
}
