// This script makes the pages live. They can all be read without it.
"use strict";

// On a phone the menu is wider than the screen.
const here = document.querySelector("nav [aria-current]");
if (here) here.scrollIntoView({ inline: "center", block: "nearest" });

// Keys: / opens the search; g and a letter open a page.
let went = 0;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) return;
  if (e.key === "/") {
    const find = document.getElementById("find");
    if (find) { find.focus(); find.select(); } else location.href = "/turns";
    e.preventDefault();
  } else if (e.key === "g") {
    went = Date.now();
  } else if (Date.now() - went < 1500) {
    const to = document.querySelector(`nav a[data-key="${CSS.escape(e.key)}"]`);
    if (to) to.click();
    went = 0;
  }
});

// The page Now: the server sends fragments of the page as it writes them.
const rows = document.getElementById("rows");
if (rows) {
  const live = document.getElementById("live"), text = document.getElementById("live-text");
  const put = (html) => { const t = document.createElement("template"); t.innerHTML = html; return t.content.firstElementChild; };
  const say = (on) => {
    live.hidden = false;
    live.firstElementChild.className = on ? "lamp on" : "lamp off";
    text.textContent = on ? "live" : "not connected; trying again";
  };
  const feed = new EventSource(rows.dataset.live);
  feed.onopen = () => say(true);
  feed.onerror = () => say(false);
  feed.addEventListener("all", (e) => { rows.innerHTML = JSON.parse(e.data); count(); });
  feed.addEventListener("state", (e) => { document.getElementById("state").innerHTML = JSON.parse(e.data); });
  feed.addEventListener("turn", (e) => {
    const { id, html, over } = JSON.parse(e.data);
    const row = put(html), old = document.getElementById("turn-" + id), runs = document.getElementById("runs");
    if (!row || !runs) return;
    if (old) old.replaceWith(row); else runs.prepend(row);
    if (over) setTimeout(() => row.remove(), 20000);
    count();
  });
  const count = () => {
    for (const t of document.querySelectorAll(".since")) {
      t.textContent = Math.max(0, (Date.now() - Number(t.dataset.since)) / 1000).toFixed(0) + " s";
    }
  };
  setInterval(count, 1000);
  addEventListener("pagehide", () => feed.close());
}

// The editor: checks the text after each key.
const edit = document.getElementById("edit");
if (edit) {
  const area = document.getElementById("text"), verdict = document.getElementById("verdict"), caret = document.getElementById("caret");
  const saved = area.value;
  let waiting, asked = 0, sent = false;
  document.getElementById("check").hidden = true;
  const check = async () => {
    const mine = ++asked;
    const answer = await fetch(edit.dataset.check, { method: "POST", headers: { "X-Fragment": "1" }, body: new URLSearchParams(new FormData(edit)) }).catch(() => null);
    if (mine !== asked) return; // a newer check is running
    verdict.classList.remove("checking");
    if (answer && answer.ok) verdict.innerHTML = await answer.text();
  };
  area.addEventListener("input", () => {
    verdict.classList.add("checking");
    clearTimeout(waiting);
    waiting = setTimeout(check, 120);
  });
  const place = () => {
    const before = area.value.slice(0, area.selectionStart).split("\n");
    caret.textContent = `line ${before.length}, column ${before.at(-1).length + 1}`;
  };
  for (const event of ["keyup", "click", "input", "focus"]) area.addEventListener(event, place);
  verdict.addEventListener("click", (e) => {
    const at = e.target.closest("a[data-line]");
    if (!at) return;
    e.preventDefault();
    const lines = area.value.split("\n"), n = Number(at.dataset.line) - 1;
    const from = lines.slice(0, n).reduce((sum, line) => sum + line.length + 1, 0);
    area.focus();
    area.setSelectionRange(from + Number(at.dataset.column) - 1, from + (lines[n] || "").length);
    area.scrollTop = Math.max(0, n - 4) * parseFloat(getComputedStyle(area).lineHeight);
    place();
  });
  edit.addEventListener("keydown", (e) => {
    if ((e.ctrlKey || e.metaKey) && e.key === "s") { e.preventDefault(); edit.requestSubmit(); }
  });
  edit.addEventListener("submit", () => { sent = true; });
  addEventListener("beforeunload", (e) => { if (!sent && area.value !== saved) e.preventDefault(); });
}
