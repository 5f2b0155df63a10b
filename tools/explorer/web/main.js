// The page: views under tabs, the trail beside them, keys, and where one is in the address.
import { select as choose } from "libraries";
import { Changes } from "explorer/changes";
import { Graph } from "explorer/graph";
import { Levels } from "explorer/levels";
import { Memory } from "explorer/memory";
import { deselect, events, select, selection, states, texts, title, views } from "explorer/state";
import { Communication, Fusion, Layouts, Profile, Schedules } from "explorer/tables";
import { toggleWrapping } from "explorer/text_view";
import { drawTrail } from "explorer/trail";

const KINDS = [
  ["levels", "Levels", Levels, true],
  ["passes", "Passes", Changes, true],
  ["graph", "Graph", Graph, texts.some((text) => text.graph)],
  ["fusion", "Fusion", Fusion, views.fusion],
  ["memory", "Memory", Memory, views.memory],
  ["layouts", "Layouts", Layouts, views.layouts],
  ["schedules", "Schedules", Schedules, views.schedules],
  ["profile", "Profile", Profile, views.profile],
  ["communication", "Communication", Communication, views.communication],
].filter(([, , , isThere]) => isThere);

const KEYS = [
  ["1 … 9", "the views"],
  ["↑ ↓", "another line"],
  ["h l", "the column to the left or right"],
  ["[ ]", "the state before or after a pass"],
  ["n p", "the next related line or change, the one before"],
  ["+", "another column"],
  ["w", "long lines whole, or cut off at the edge"],
  ["Ctrl F", "search in a text"],
  ["Esc", "select nothing"],
  ["?", "this list"],
];

const holder = document.getElementById("view");
const trail = document.getElementById("trail");
const tabs = choose("#tabs").selectAll("button").data(KINDS).join("button");
let view = null;
let shownKind = "";

tabs
  .attr("role", "tab")
  .attr("id", ([kind]) => `tab-${kind}`)
  .text(([, name]) => name)
  .attr("title", (_, place) => `${place + 1}`)
  .on("click", (_, [kind]) => open(kind));

function open(kind, shown = []) {
  view?.destroy();
  holder.replaceChildren();
  const [, , View] = KINDS.find(([each]) => each === kind) ?? KINDS[0];
  shownKind = kind;
  tabs.attr("aria-selected", ([each]) => each === kind);
  view = new View(holder, holder.clientWidth);
  const wanted = shown.map((index) => texts[index]).filter(Boolean);
  if (wanted.length) for (const text of wanted) view.open(text);
  else view.openUsual();
  view.onchange = remember;
  view.update({});
  remember();
}

/** Shows long lines whole, or cuts them off again. */
function wrap() {
  toggleWrapping();
  recall();
}

function reveal(text) {
  if (view.reveal?.(text) === false || !view.reveal) {
    open("levels");
    view.reveal(text);
  }
}

/** Puts into the address what is shown, so that it can be kept, and sent to others. */
function remember() {
  const parts = [`view=${shownKind}`, `texts=${view.shown.join(",")}`];
  if (selection.text) parts.push(`line=${selection.text.index}:${selection.line + 1}`);
  // In the frame of a notebook there is no address of its own.
  if (location.protocol !== "about:") history.replaceState(null, "", `#${parts.join("&")}`);
}

function recall() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const shown = (wanted.get("texts") ?? "").split(",").filter(Boolean).map(Number);
  const kind = KINDS.some(([each]) => each === wanted.get("view")) ? wanted.get("view") : KINDS[0][0];
  open(kind, shown);
  const [text, line] = (wanted.get("line") ?? "").split(":").map(Number);
  if (texts[text] && line >= 1 && line <= texts[text].length) select(texts[text], line - 1);
}

events.addEventListener("select", ({ detail }) => {
  view.update(detail);
  drawTrail(trail, reveal);
  remember();
});

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea, .cm-panel");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const number = Number(event.key) - 1;
  if (KINDS[number]) open(KINDS[number][0]);
  else if (event.key === "w") wrap();
  else if (event.key === "?") document.getElementById("about").showModal();
  else if (event.key === "Escape") deselect();
  else if (!view.key?.(event.key)) return;
  event.preventDefault();
});

choose("#wrap").on("click", wrap);
choose("#help").on("click", () => document.getElementById("about").showModal());
choose("#keys")
  .selectAll("div")
  .data(KEYS.flat())
  .join((enter) => enter.append((_, place) => document.createElement(place % 2 ? "dd" : "dt")))
  .text((text) => text);
document.getElementById("licences").textContent = document.getElementById("notices").textContent;
document.getElementById("title").textContent = title;
document.getElementById("title").title = title;
drawTrail(trail, reveal);
recall();
window.addEventListener("hashchange", recall);
/** For tests, and for whoever asks the console. */
window.explorer = { select, selection, states, texts, views, get view() { return view; } };
document.body.dataset.ready = "true";
