// Texts side by side: what is selected in one is marked in all.
import { select as choose } from "libraries";
import { related, selection, states, texts } from "explorer/state";
import { TextView } from "explorer/text_view";
import { byLevel, count, label } from "explorer/names";

/** Pixels of a column, as in the style, and of the button behind them. */
const [NARROWEST, BUTTON] = [300, 32];

export class Levels {
  constructor(parent, room) {
    this.root = choose(parent).append("div").attr("class", "columns");
    this.add = this.root.append("button").attr("class", "add").attr("title", "Another column (+)").text("+");
    this.add.on("click", () => this.open(states.at(-1)));
    this.columns = [];
    this.room = room;
  }

  /** As many texts as there is room for, spread over the way down. */
  openUsual() {
    const level = (name) => states.filter((text) => text.level === name).at(-1);
    const wanted = [
      level("source") ?? level("input"),
      level("source") && level("input"),
      level("tensors"),
      level("loops"),
      level("machine"),
    ].filter(Boolean);
    const chosen = wanted.length > 1 ? [...new Set(wanted)] : [states[0], states.at(-1)];
    const count = Math.max(2, Math.floor((this.room - BUTTON) / NARROWEST));
    while (chosen.length > count) chosen.splice(count > 2 ? 1 : chosen.length - 2, 1);
    for (const text of chosen) this.open(text);
  }

  get shown() {
    return this.columns.map((column) => column.text.index);
  }

  open(text, place = this.columns.length) {
    const root = this.root.insert("div", () => this.columns[place]?.root.node() ?? this.add.node());
    const column = { root: root.attr("class", "column") };
    const bar = root.append("div").attr("class", "bar");
    const chooser = bar.append("select").attr("aria-label", "Text of this column");
    for (const [name, own] of byLevel(texts)) {
      const group = chooser.append("optgroup").attr("label", name);
      group
        .selectAll("option")
        .data(own)
        .join("option")
        .attr("value", (each) => each.index)
        .property("disabled", (each) => each.isSame)
        .text((each) => (each.isSame ? `${label(each)} (changes nothing)` : label(each)));
    }
    chooser.on("change", () => this.put(column, texts[Number(chooser.property("value"))]));
    column.count = bar.append("span").attr("class", "count numbers");
    const step = (by) => () => this.step(column, by);
    column.steps = [
      bar.append("button").attr("title", "The related line before (p)").text("↑").on("click", step(-1)),
      bar.append("button").attr("title", "The next related line (n)").text("↓").on("click", step(1)),
    ];
    bar
      .append("button")
      .attr("title", "Close this column")
      .text("×")
      .on("click", () => this.close(column));
    column.chooser = chooser;
    column.holder = root.append("div").attr("class", "text").node();
    this.columns.splice(place, 0, column);
    this.put(column, text);
    return column;
  }

  put(column, text) {
    column.view?.destroy();
    column.text = text.base;
    column.chooser.property("value", column.text.index);
    column.view = new TextView(column.holder, column.text);
    this.mark(column);
    this.onchange?.();
  }

  close(column) {
    column.view.destroy();
    column.root.remove();
    this.columns = this.columns.filter((each) => each !== column);
    this.onchange?.();
  }

  mark(column, from) {
    const lines = column.view.mark();
    column.lines = lines;
    column.place = 0;
    const isAny = selection.text !== null;
    column.count.text(isAny ? count(lines.length, "line") : "").attr("title", `of ${count(column.text.length, "line")}`);
    for (const button of column.steps) button.property("disabled", lines.length < 2);
    if (lines.length && column.view !== from) {
      const line = selection.text === column.text ? selection.line : lines[0];
      column.place = lines.indexOf(line);
      column.view.show(line, { withCursor: true });
    }
  }

  step(column, by) {
    if (!column.lines.length) return;
    column.place = (column.place + by + column.lines.length) % column.lines.length;
    column.view.show(column.lines[column.place]);
  }

  /** Shows a text in the column that has it, or in the one whose level it is of, or in a new one. */
  reveal(text) {
    const own = this.columns.find((column) => column.text === text.base);
    if (own) {
      own.root.node().scrollIntoView({ inline: "nearest" });
      this.mark(own);
      return;
    }
    const like = this.columns.find((column) => column.text.level === text.level && column.text !== selection.text);
    if (like) this.put(like, text);
    else this.open(text, this.columns.filter((column) => column.text.index < text.index).length);
  }

  update(detail) {
    for (const column of this.columns) this.mark(column, detail.from);
    this.onchange?.();
  }

  key(key) {
    const focused = this.columns.find((column) => column.root.node().contains(document.activeElement)) ?? this.columns[0];
    if (key === "n" || key === "p") this.step(focused, key === "n" ? 1 : -1);
    else if (key === "+") this.open(states.at(-1));
    else if (key === "[" || key === "]") {
      const place = states.indexOf(focused.text) + (key === "]" ? 1 : -1);
      if (states[place]) this.put(focused, states[place]);
    } else if (key === "h" || key === "l") {
      const place = this.columns.indexOf(focused) + (key === "l" ? 1 : -1);
      this.columns[place]?.view.focus();
    } else return false;
    return true;
  }

  destroy() {
    for (const column of this.columns) column.view.destroy();
  }
}
