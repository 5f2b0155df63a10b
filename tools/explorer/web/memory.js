// The arena over the time of the program: where each buffer lies, and for how long.
import { axisBottom, axisLeft, scaleLinear, select as choose, zoom, zoomIdentity } from "libraries";
import { related, select, texts, views } from "explorer/state";
import { bytes, count, hue } from "explorer/names";

const MARGIN = { top: 12, right: 28, bottom: 34, left: 70 };

export class Memory {
  constructor(parent) {
    const pane = choose(parent).append("div").attr("class", "pane");
    const bar = pane.append("div").attr("class", "bar");
    this.arenas = [...views.memory.arenas].sort((a, b) => b.buffers.length - a.buffers.length || b.size - a.size);
    this.text = texts[views.memory.document];
    this.chooser = bar.append("select").attr("aria-label", "Function");
    this.chooser
      .selectAll("option")
      .data(this.arenas)
      .join("option")
      .attr("value", (_, place) => place)
      .text((arena) => `@${arena.function}`);
    this.chooser.on("change", () => this.draw(this.arenas[Number(this.chooser.property("value"))]));
    bar.append("button").text("Fit").attr("title", "All of it (0)").on("click", () => this.fit());
    this.note = bar.append("span").attr("class", "faint numbers");
    this.svg = pane.append("div").attr("class", "drawing").append("svg");
    this.svg.append("clipPath").attr("id", "inside").append("rect");
    this.plot = this.svg.append("g").attr("clip-path", "url(#inside)");
    this.axes = [this.svg.append("g").attr("class", "axis"), this.svg.append("g").attr("class", "axis")];
    this.zoom = zoom()
      .scaleExtent([1, 400])
      .on("zoom", ({ transform }) => this.place(transform));
    this.svg.call(this.zoom).on("dblclick.zoom", null);
    this.observer = new ResizeObserver(() => this.arena && this.draw(this.arena));
    this.observer.observe(this.svg.node().parentNode);
  }

  openUsual() {
    this.draw(this.arenas[0]);
  }

  get shown() {
    return [];
  }

  draw(arena) {
    this.arena = arena;
    this.chooser.property("value", this.arenas.indexOf(arena));
    const { width, height } = this.svg.node().getBoundingClientRect();
    Object.assign(this, { width, height });
    this.x = scaleLinear([0, arena.positions], [MARGIN.left, Math.max(MARGIN.left + 10, width - MARGIN.right)]);
    this.y = scaleLinear([0, Math.max(arena.size, 1)], [Math.max(20, height - MARGIN.bottom), MARGIN.top]);
    this.zoom.extent([[MARGIN.left, MARGIN.top], [width - MARGIN.right, height - MARGIN.bottom]]);
    this.zoom.translateExtent([[MARGIN.left, MARGIN.top], [width - MARGIN.right, height - MARGIN.bottom]]);
    this.svg
      .select("#inside rect")
      .attr("x", MARGIN.left)
      .attr("y", MARGIN.top)
      .attr("width", Math.max(0, width - MARGIN.left - MARGIN.right))
      .attr("height", Math.max(0, height - MARGIN.top - MARGIN.bottom));
    this.plot.selectAll("*").remove();
    this.rectangles = this.plot.selectAll(".buffer").data(arena.buffers).join("rect").attr("class", "buffer");
    this.rectangles
      .style("--hue", (_, place) => hue(place))
      .on("click", (_, [line]) => select(this.text, line, { from: this }))
      .append("title")
      .text(([line, offset, size, first, last, type]) =>
        [this.text.line(line).trim(), type, `${bytes(size)} at ${offset.toLocaleString("en")}, steps ${first} to ${last}`].join("\n"),
      );
    this.labels = this.plot.selectAll(".name").data(arena.buffers).join("text").attr("class", "name");
    this.live = this.plot.append("path").attr("class", "live");
    this.live.append("title").text("Bytes that are in use");
    const allocated = arena.allocated === undefined ? "" : `, instead of ${bytes(arena.allocated)} without sharing`;
    const peak = arena.peak === undefined ? "" : `; at most ${bytes(arena.peak)} in use at one time`;
    this.note.text(`${count(arena.buffers.length, "buffer")} in ${bytes(arena.size)}${allocated}${peak}`);
    this.place(zoomIdentity);
    this.update();
  }

  place(transform) {
    const [x, y] = [transform.rescaleX(this.x), transform.rescaleY(this.y)];
    this.rectangles
      .attr("x", ([, , , first]) => x(first))
      .attr("width", ([, , , first, last]) => Math.max(1, x(last + 1) - x(first)))
      .attr("y", ([, offset, size]) => y(offset + size))
      .attr("height", ([, offset, size]) => Math.max(1, y(offset) - y(offset + size)));
    // A block has its name and type where it has room for both, else its name, else nothing.
    this.labels
      .attr("x", ([, , , first]) => Math.max(x(first), MARGIN.left) + 4)
      .attr("y", ([, offset, size]) => (y(offset) + y(offset + size)) / 2 + 4)
      .text(([line, offset, size, first, last, type]) => {
        const room = x(last + 1) - Math.max(x(first), MARGIN.left);
        const name = valueName(this.text.line(line));
        const fits = (text) => y(offset) - y(offset + size) > 13 && room > 7 * text.length;
        return [`${name} ${type}`, name].find(fits) ?? "";
      });
    this.live.attr("d", steps(this.arena, x, y));
    this.axes[0]
      .attr("transform", `translate(0,${this.height - MARGIN.bottom})`)
      .call(axisBottom(x).ticks(Math.max(2, this.width / 110)).tickFormat((step) => (Number.isInteger(step) ? `step ${step}` : "")));
    const values = roundBytes(...y.domain(), this.height / 50);
    this.axes[1].attr("transform", `translate(${MARGIN.left},0)`).call(axisLeft(y).tickValues(values).tickFormat(bytes));
  }

  fit() {
    this.svg.call(this.zoom.transform, zoomIdentity);
  }

  update() {
    const lines = related(this.text);
    this.rectangles.classed("related", ([line]) => lines.has(line)).filter(([line]) => lines.has(line)).raise();
    this.live.raise();
  }

  key(key) {
    if (key !== "0") return false;
    this.fit();
    return true;
  }

  destroy() {
    this.observer.disconnect();
  }
}

/** The value that a line defines. */
function valueName(line) {
  return /^\s*(%[\w$.-]+)/.exec(line)?.[1] ?? "";
}

/** Multiples of a power of two, as many as fit. */
function roundBytes(from, to, most) {
  const step = 2 ** Math.ceil(Math.log2(Math.max(1, (to - from) / Math.max(1, most))));
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, place) => (first + place) * step);
}

/** How much is in use at each step, as a line. */
function steps(arena, x, y) {
  const changes = new Float64Array(arena.positions + 1);
  for (const [, , size, first, last] of arena.buffers) {
    changes[first] += size;
    changes[last + 1] -= size;
  }
  let path = "";
  let live = 0;
  for (let step = 0; step < arena.positions; step += 1) {
    live += changes[step];
    path += `${path ? "L" : "M"}${x(step)},${y(live)}H${x(step + 1)}`;
  }
  return path;
}
