// This script makes the pages live. They can all be read without it.
"use strict";

// On a phone the menu is wider than the screen.
const here = document.querySelector("nav [aria-current]");
if (here) here.scrollIntoView({ inline: "center", block: "nearest" });

// Times are in the reader's zone; the server wrote them in its own.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const told = (at, more) => at.toLocaleString("en-GB", { hour: "2-digit", minute: "2-digit", ...more });
const localize = (part) => {
  const now = new Date();
  for (const t of part.querySelectorAll("time[datetime]")) {
    const at = new Date(t.dateTime), day = { day: "numeric", month: "short" };
    if (at.getFullYear() !== now.getFullYear()) t.textContent = told(at, { ...day, year: "numeric" }).replace(",", "");
    else if (at.toDateString() !== now.toDateString()) t.textContent = told(at, day).replace(",", "");
    else t.textContent = told(at, { second: "2-digit" });
    t.title = told(at, { ...day, year: "numeric", second: "2-digit", timeZoneName: "short" });
  }
};
localize(document);
document.getElementById("zone").textContent = zone;
for (const input of document.querySelectorAll("[data-zone]")) input.value = zone;

// A search that stopped early and found nothing goes on by itself.
const late = document.querySelector("#late[data-follow] a");
if (late) location.replace(late.href);

// Buttons that copy a text.
for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.textContent).then(() => { button.textContent = "Copied"; }, () => { button.textContent = "Not allowed"; });
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  text.after(button);
}

// Keys: / goes to the search, j and k to the next and the last line, o opens it, g and a letter open a page, ? tells all.
const lines = () => [...document.querySelectorAll("#runs .run-q, .turns .q a, .cards .card-top a")];
const step = (by) => {
  const all = lines(), at = all.indexOf(document.activeElement);
  const to = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
  if (to) to.focus();
};
const help = document.getElementById("keys");
let went = 0;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) return;
  const find = document.getElementById("find");
  if (Date.now() - went < 1500) {
    const to = document.querySelector(`nav a[data-key="${CSS.escape(e.key)}"]`);
    if (to) to.click();
    went = 0;
  } else if (e.key === "/") {
    if (find) { find.focus(); find.select(); } else document.querySelector('nav a[data-key="s"]')?.click();
    e.preventDefault();
  } else if (e.key === "g") {
    went = Date.now();
  } else if (e.key === "j") {
    step(1);
  } else if (e.key === "k") {
    step(-1);
  } else if (e.key === "o" && lines().includes(document.activeElement)) {
    document.activeElement.click();
  } else if (e.key === "?") {
    help.showModal();
  }
});

// The page Now: the server sends fragments of the page as it writes them.
const rows = document.getElementById("rows");
if (rows) {
  const live = document.getElementById("live"), text = document.getElementById("live-text"), news = document.getElementById("news");
  const put = (html) => { const t = document.createElement("template"); t.innerHTML = html; return t.content.firstElementChild; };
  const say = (on) => {
    live.hidden = false;
    live.firstElementChild.className = on ? "lamp on" : "lamp off";
    text.textContent = on ? "live" : "not connected; trying again";
  };
  const count = () => {
    for (const t of document.querySelectorAll(".since")) {
      t.textContent = Math.max(0, (Date.now() - Number(t.dataset.since)) / 1000).toFixed(0) + " s";
    }
  };
  const fill = (id, html) => { const part = document.getElementById(id); part.innerHTML = html; localize(part); count(); };
  let feed;
  const connect = () => {
    feed = new EventSource(rows.dataset.live);
    feed.onopen = () => say(true);
    feed.onerror = () => {
      say(false);
      if (feed.readyState === EventSource.CLOSED) setTimeout(connect, 5000); // the browser gives up after a refusal
    };
    feed.addEventListener("all", (e) => fill("rows", JSON.parse(e.data)));
    feed.addEventListener("state", (e) => fill("state", JSON.parse(e.data)));
    feed.addEventListener("recent", (e) => fill("recent", JSON.parse(e.data)));
    feed.addEventListener("turn", (e) => {
      const { id, html, over } = JSON.parse(e.data);
      const row = put(html), old = document.getElementById("turn-" + id), runs = document.getElementById("runs");
      if (!row || !runs) return;
      if (over) {
        if (old) old.remove();
        news.textContent = row.textContent;
      } else if (old) old.replaceWith(row);
      else runs.prepend(row);
      count();
    });
  };
  connect();
  setInterval(count, 1000);
  addEventListener("pagehide", () => feed.close());
  addEventListener("pageshow", (e) => { if (e.persisted) connect(); });
}

// The editor: checks the text after each key.
const edit = document.getElementById("edit");
if (edit) {
  const area = document.getElementById("text"), verdict = document.getElementById("verdict"), caret = document.getElementById("caret");
  const saved = "unsaved" in edit.dataset ? null : area.value; // null: the server did not take this text
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
