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
