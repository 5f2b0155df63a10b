// What is told in words: fusion, layouts, schedules, and what devices send each other.
import { select as choose } from "libraries";
import { related, select, texts, views } from "explorer/state";
import { rows } from "explorer/fusion";
import { bytes, count, hue } from "explorer/names";

class View {
  get shown() {
    return [];
  }

  openUsual() {}

  update() {}

  key() {
    return false;
  }

  destroy() {}
}

export class Layouts extends View {
  constructor(parent) {
    super();
    const root = choose(parent).append("div").attr("class", "split");
    const { shapes, all } = views.layouts;
    this.text = texts[views.layouts.document];
    this.list = root.append("div").attr("class", "list");
    this.page = root.append("div").attr("class", "page");
    this.list.append("h3").text(shapes.length < all ? `${shapes.length} of ${all} shapes` : count(all, "shape"));
    const buttons = this.list.selectAll("button").data(shapes).join("button");
    buttons.append("span").attr("class", "mono").text((shape) => shape.shape);
    buttons.append("span").attr("class", "numbers").text((shape) => `${shape.lines.length} ×`);
    buttons.on("click", (_, shape) => this.open(shape));
  }

  openUsual() {
    this.open(views.layouts.shapes[0]);
    this.update();
  }

  open(shape) {
    this.list.selectAll("button").attr("aria-current", (each) => each === shape);
    this.page.selectAll("*").remove();
    this.page
      .append("img")
      .attr("alt", `The memory of ${shape.shape}`)
      .attr("src", `data:image/svg+xml,${encodeURIComponent(shape.drawing)}`);
    this.page.append("pre").text(shape.words);
    const uses = this.page.append("p").text("Values: ");
    uses
      .selectAll("button")
      .data(shape.lines.slice(0, 40))
      .join("button")
      .attr("class", "mono")
      .text((line) => this.text.line(line).trim().match(/^%[\w.$-]+/)?.[0] ?? `line ${line + 1}`)
      .on("click", (_, line) => select(this.text, line, { from: this }));
  }

  update(detail) {
    const lines = related(this.text);
    const own = views.layouts.shapes.find((shape) => shape.lines.some((line) => lines.has(line)));
    if (own && detail?.from !== this) this.open(own);
  }

  key(key) {
    const { shapes } = views.layouts;
    const now = this.list.selectAll("button").data().findIndex((_, place) => this.list.selectAll("button").nodes()[place].ariaCurrent === "true");
    const next = shapes[now + { "[": -1, "]": 1 }[key]];
    if (!next) return false;
    this.open(next);
    return true;
  }
}

class Table extends View {
  constructor(parent, view, heads, rows) {
    super();
    this.text = texts[view.document];
    this.page = choose(parent).append("div").attr("class", "page");
    const table = this.page.append("table");
    table
      .append("thead")
      .append("tr")
      .selectAll("th")
      .data(heads)
      .join("th")
      .attr("class", (head) => (head.isNumber ? "numbers" : null))
      .text((head) => head.title);
    this.rows = table.append("tbody").selectAll("tr").data(rows).join("tr");
    for (const head of heads) {
      const cells = this.rows.append("td").attr("class", head.isNumber ? "numbers" : head.isCode ? "mono" : null);
      if (head.line === undefined) cells.text(head.value);
      else {
        cells
          .append("button")
          .text(head.value)
          .property("disabled", (row) => head.line(row) === null)
          .on("click", (_, row) => select(this.text, head.line(row), { from: this }));
      }
    }
  }

  update() {
    const lines = related(this.text);
    this.rows.classed("related", (row) => lines.has(row.line));
    const first = this.rows.nodes().find((row) => row.classList.contains("related"));
    first?.scrollIntoView({ block: "nearest" });
  }
}

export class Fusion extends Table {
  constructor(parent) {
    const heads = [
      { title: "line", value: (row) => row.line + 1, line: (row) => row.line, isNumber: true },
      { title: "operation", value: (row) => row.subject },
      { title: "what becomes of it", value: (row) => row.remark },
      { title: "because", value: (row) => row.reason },
    ];
    super(parent, views.fusion, heads, rows);
  }
}

export class Schedules extends Table {
  constructor(parent) {
    const view = views.schedules;
    const text = texts[view.document];
    const kernels = [];
    for (let line = 0; line < text.length; line += 1) {
      kernels.push(text.line(line).match(/^ {2}func\.func (?:\w+ )?@([\w.$-]+)/)?.[1] ?? kernels.at(-1) ?? "");
    }
    const heads = [
      { title: "line", value: (row) => row.line + 1, line: (row) => row.line, isNumber: true },
      { title: "function", value: (row) => `@${kernels[row.line]}` },
      { title: "operation", value: (row) => row.operation },
      { title: "schedule", value: (row) => row.schedule, isCode: true },
    ];
    super(parent, view, heads, view.rows);
  }
}

export class Profile extends Table {
  constructor(parent) {
    const number = (value) => (value ? value.toLocaleString("en", { maximumFractionDigits: 1 }) : "-");
    const heads = [
      { title: "kernel", value: (row) => `@${row.name}`, line: (row) => row.line },
      { title: "calls", value: (row) => row.calls.toLocaleString("en"), isNumber: true },
      { title: "time", value: (row) => `${number(100 * row.share)} %`, isNumber: true },
      { title: "mean µs", value: (row) => number((row.seconds / row.calls) * 1e6), isNumber: true },
      { title: "best µs", value: (row) => number(row.shortest_seconds * 1e6), isNumber: true },
      { title: "GFLOP/s", value: (row) => number(row.flops / 1e9), isNumber: true },
      { title: "GB/s", value: (row) => number(row.bandwidth / 1e9), isNumber: true },
      { title: "of roof", value: (row) => (row.roofline_share ? `${number(100 * row.roofline_share)} %` : "-"), isNumber: true },
    ];
    super(parent, views.profile, heads, views.profile.rows);
  }
}

export class Communication extends Table {
  constructor(parent) {
    const view = views.communication;
    const heads = [
      { title: "collective", value: (row) => row.collective },
      { title: "axes", value: (row) => row.axes },
      { title: "calls", value: (row) => row.calls, isNumber: true },
      { title: "a device sends", value: (row) => bytes(row.bytes), isNumber: true },
      { title: "for", value: (row) => row.line || "?" },
    ];
    super(parent, view, heads, view.exchanges);
    this.page.insert("p", "table").text(
      `Of ${count(view.devices, "device")}, each sends ${bytes(view.bytes)}, computes ${count(view.flops, "floating-point operation")} and keeps at most ${bytes(view.peak_bytes)} of values at one time.`,
    );
    if (views.planned) drawStep(this.page, views.planned.step);
  }
}

/** What a device of a planned machine does from when to when; a loop does both at a time. */
function drawStep(page, step) {
  const milliseconds = (seconds) => `${(seconds * 1e3).toLocaleString("en", { maximumFractionDigits: 3 })} ms`;
  const share = (seconds) => `${(100 * seconds) / step.seconds}%`;
  const names = [...new Set(step.timeline.map((each) => each.name))];
  page.append("h3").text(`A step on the machine: ${milliseconds(step.seconds)} at best`);
  for (const stream of ["computation", "communication"]) {
    page.append("p").text(`${stream}, ${milliseconds(step[stream])}`);
    page
      .append("svg")
      .attr("class", "stream")
      .selectAll("rect")
      .data(step.timeline.filter((each) => [stream, "both"].includes(each.stream)))
      .join("rect")
      .attr("class", "buffer")
      .style("--hue", (each) => hue(names.indexOf(each.name)))
      .attr("x", (each) => share(each.start))
      .attr("width", (each) => share(each.end - each.start))
      .attr("height", "100%")
      .append("title")
      .text((each) => `${each.name}, ${milliseconds(each.end - each.start)} from ${milliseconds(each.start)}`);
  }
}
