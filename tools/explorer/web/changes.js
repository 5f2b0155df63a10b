// The passes, and what each of them has changed.
import { Change, diff, goToNextChunk, goToPreviousChunk, presentableDiff, select as choose, unifiedMergeView } from "libraries";
import { texts } from "explorer/state";
import { TextView } from "explorer/text_view";
import { byLevel, count, label, seconds } from "explorer/names";

const LARGEST_DETAIL = 4000;
const MOST_DETAILS = 500;

/** The differences of two texts, line by line; inside of small changes, character by character. */
function differences(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const codes = new Map();
  const spell = (lines) =>
    lines
      .map((line) => {
        let code = codes.get(line);
        // A character for each different line, none of a surrogate pair.
        if (code === undefined) codes.set(line, (code = codes.size + (codes.size >= 0xd800 ? 0x800 : 0)));
        return String.fromCharCode(code);
      })
      .join("");
  const spelled = [spell(a), spell(b)];
  const offsets = [a, b].map((lines) => {
    const starts = [0];
    for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
    return starts;
  });
  const tooMany = codes.size > 0xf7ff;
  const found = tooMany
    ? [new Change(0, a.length, 0, b.length)]
    : diff(spelled[0], spelled[1], { scanLimit: 2000, timeout: 1500 });
  return found.flatMap((change) => {
    const fromA = offsets[0][change.fromA];
    const fromB = offsets[1][change.fromB];
    const toA = Math.min(offsets[0][change.toA], before.length);
    const toB = Math.min(offsets[1][change.toB], after.length);
    const isSmall = toA - fromA <= LARGEST_DETAIL && toB - fromB <= LARGEST_DETAIL;
    if (!isSmall || found.length > MOST_DETAILS) return [new Change(fromA, toA, fromB, toB)];
    return presentableDiff(before.slice(fromA, toA), after.slice(fromB, toB)).map(
      (each) => new Change(each.fromA + fromA, each.toA + fromA, each.fromB + fromB, each.toB + fromB),
    );
  });
}

export class Changes {
  constructor(parent) {
    const root = choose(parent).append("div").attr("class", "split");
    this.list = root.append("div").attr("class", "list").attr("role", "listbox").attr("aria-label", "Passes");
    const pane = root.append("div").attr("class", "pane");
    this.bar = pane.append("div").attr("class", "bar");
    this.holder = pane.append("div").attr("class", "text").node();
    this.passes = texts.filter((text) => text.kind === "mlir" && text.level !== "input");
    for (const [level, own] of byLevel(this.passes)) {
      this.list.append("h3").text(level);
      const buttons = this.list.selectAll(null).data(own).join("button");
      buttons.classed("same", (text) => text.isSame).attr("data-index", (text) => text.index);
      buttons.append("span").text(label).attr("title", label);
      buttons.append("span").attr("class", "numbers").text((text) => (text.isSame ? "·" : seconds(text.seconds)));
      buttons.on("click", (_, text) => this.open(text));
    }
  }

  openUsual() {
    this.open(this.passes.find((text) => text.name === "convert-xla-to-linalg") ?? this.passes.find((text) => text.origin && !text.isSame) ?? this.passes[0]);
  }

  get shown() {
    return [this.text?.index];
  }

  open(text) {
    this.text = text;
    this.view?.destroy();
    this.list
      .selectAll("button")
      .attr("aria-current", (each) => each === text)
      .filter((each) => each === text)
      .each((_, place, nodes) => nodes[place].scrollIntoView({ block: "nearest" }));
    this.describe(text);
    const isFirst = text.origin === null || text.origin.level === "input" || text.isSame;
    const original = isFirst ? null : text.origin.strings.join("\n");
    const comparison = unifiedMergeView({
      original: original ?? "",
      mergeControls: false,
      collapseUnchanged: { margin: 3, minSize: 8 },
      diffConfig: { override: differences },
    });
    this.view = new TextView(this.holder, text.base, original === null ? [] : comparison);
    this.view.mark();
    this.onchange?.();
  }

  describe(text) {
    this.bar.selectAll("*").remove();
    this.bar.append("b").text(label(text));
    const operations = Object.values(text.base.operations ?? {}).reduce((sum, each) => sum + each, 0);
    const said = text.isSame ? "changes nothing" : `${count(operations, "operation")}${moves(text)}`;
    this.bar.append("span").attr("class", "faint").text(said);
    const steps = this.bar.append("span").attr("class", "count").text(seconds(text.seconds));
    if (text.isSame) return;
    for (const [sign, title, command] of [
      [" ↑ ", "The change before (p)", goToPreviousChunk],
      [" ↓ ", "The next change (n)", goToNextChunk],
    ]) {
      steps.append("button").attr("title", title).text(sign).on("click", () => command(this.view.editor));
    }
  }

  reveal(text) {
    if (this.passes.includes(text)) this.open(text);
    else return false;
    return true;
  }

  update() {
    this.view?.mark();
  }

  key(key) {
    if (key === "n") goToNextChunk(this.view.editor);
    else if (key === "p") goToPreviousChunk(this.view.editor);
    else if (key === "[" || key === "]" || key === "j" || key === "k") {
      const place = this.passes.indexOf(this.text) + (key === "]" || key === "j" ? 1 : -1);
      if (this.passes[place]) this.open(this.passes[place]);
    } else return false;
    return true;
  }

  destroy() {
    this.view?.destroy();
  }
}

/** The kinds of operations that became more and fewer, the most first. */
function moves(text) {
  const [before, after] = [text.origin?.operations, text.base.operations];
  if (!before || !after) return "";
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)])
    .filter(([, by]) => by)
    .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a))
    .slice(0, 4)
    .map(([name, by]) => `${by > 0 ? "+" : "−"}${Math.abs(by).toLocaleString("en")} ${name}`);
  return changed.length ? `; ${changed.join(", ")}` : "";
}
