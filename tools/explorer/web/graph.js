// The graph of a computation: operations with their shapes, in boxes those that are computed together.
import { dagre, select as choose, zoom, zoomIdentity } from "libraries";
import { become, related, select, selection, states } from "explorer/state";
import { count, hue, label } from "explorer/names";

const MOST_NODES = 120;
/** Of what is around a selected line: with so many nodes no farther ones are drawn. */
const ENOUGH = 30;
const SMALLEST_TEXT = 0.7;
const FUSION = "linalg-fuse-producers-and-siblings";
const OUTLINING = "xla-outline-kernels";
const [LETTER, HEIGHT] = [7, 40];

export class Graph {
  constructor(parent) {
    const pane = choose(parent).append("div").attr("class", "pane");
    this.bar = pane.append("div").attr("class", "bar");
    this.texts = states.filter((text) => text.graph);
    this.chooser = this.bar.append("select").attr("aria-label", "State of the program");
    this.chooser
      .selectAll("option")
      .data(this.texts)
      .join("option")
      .attr("value", (text) => text.index)
      .text((text) => (text.level ? `${text.level}: ${label(text)}` : label(text)));
    this.chooser.on("change", () => this.open(this.texts.find((text) => text.index === Number(this.chooser.property("value")))));
    this.computations = this.bar.append("select").attr("aria-label", "Computation");
    this.computations.on("change", () => this.draw(Number(this.computations.property("value"))));
    this.bar.append("button").text("Fit").attr("title", "All of it (0)").on("click", () => this.fit());
    this.note = this.bar.append("span").attr("class", "count");
    this.svg = pane.append("div").attr("class", "drawing").append("svg");
    this.svg
      .append("defs")
      .append("marker")
      .attr("id", "arrow")
      .attr("viewBox", "0 0 8 8")
      .attr("refX", 7)
      .attr("refY", 4)
      .attr("markerWidth", 7)
      .attr("markerHeight", 7)
      .attr("orient", "auto")
      .append("path")
      .attr("d", "M0 1L8 4L0 7z")
      .attr("fill", "var(--faint)");
    this.canvas = this.svg.append("g");
    this.zoom = zoom()
      .scaleExtent([0.02, 4])
      .on("zoom", ({ transform }) => this.canvas.attr("transform", transform));
    this.svg.call(this.zoom).on("dblclick.zoom", null);
  }

  openUsual() {
    const around = this.texts.includes(selection.text) ? selection.text : null;
    this.open(around ?? this.texts.filter((text) => text.level === "xla").at(-1) ?? this.texts[0]);
  }

  get shown() {
    return [this.text.index];
  }

  open(text) {
    this.text = text.base.graph ? text.base : this.texts[0];
    this.chooser.property("value", this.text.index);
    const { computations } = this.text.graph;
    this.computations
      .selectAll("option")
      .data(computations)
      .join("option")
      .attr("value", (_, place) => place)
      .text((each) => `${each.title}: ${count(each.nodes.length, "node")}`);
    this.groups = groupsOf(this.text);
    this.nodeAt = nodesByLine(this.text);
    this.draw(this.selectedComputation() ?? largest(computations));
    this.onchange?.();
  }

  selectedComputation() {
    const lines = this.relatedNodes();
    const place = this.text.graph.computations.findIndex(({ nodes, line }) => nodes.some(([own]) => own !== line && lines.has(own)));
    return place < 0 ? null : place;
  }

  /** The lines of the nodes that related lines belong to, such as those of a body. */
  relatedNodes() {
    const lines = new Set();
    for (const line of related(this.text)) if (this.nodeAt.has(line)) lines.add(this.nodeAt.get(line));
    return lines;
  }

  draw(number) {
    this.number = number;
    this.computations.property("value", number);
    const { nodes } = this.text.graph.computations[number];
    const drawn = around(nodes, this.focus(nodes), MOST_NODES);
    this.drawn = drawn;
    const graph = layout(nodes, drawn, this.text.graph.types, this.groups);
    this.graph = graph;
    this.canvas.selectAll("*").remove();
    this.drawGroups(graph);
    this.drawEdges(graph);
    this.drawNodes(graph);
    const where = this.focus(nodes).length ? "around what is selected" : "select a line to see what is around it";
    this.note.text(drawn.length < nodes.length ? `${drawn.length} of ${count(nodes.length, "node")}; ${where}` : "");
    this.mark();
    this.fit();
  }

  focus(nodes) {
    const lines = this.relatedNodes();
    const { line } = this.text.graph.computations[this.number];
    return nodes.flatMap(([own], place) => (own !== line && lines.has(own) ? [place] : []));
  }

  drawGroups(graph) {
    const groups = graph.nodes().filter((id) => id.startsWith("group"));
    const boxes = this.canvas.selectAll(".group").data(groups).join("g").attr("class", "group");
    boxes.style("--hue", (_, place) => hue(place));
    boxes
      .append("rect")
      .attr("rx", 8)
      .each((id, place, all) => {
        const { x, y, width, height } = graph.node(id);
        choose(all[place]).attr("x", x - width / 2).attr("y", y - height / 2).attr("width", width).attr("height", height);
      });
    boxes
      .append("text")
      .attr("x", (id) => graph.node(id).x - graph.node(id).width / 2 + 8)
      .attr("y", (id) => graph.node(id).y - graph.node(id).height / 2 - 5)
      .text((id) => graph.node(id).title);
  }

  drawEdges(graph) {
    this.canvas
      .selectAll(".edge")
      .data(graph.edges())
      .join("path")
      .attr("class", "edge")
      .attr("marker-end", "url(#arrow)")
      .attr("d", (edge) => curve(graph.edge(edge).points));
  }

  drawNodes(graph) {
    const ids = graph.nodes().filter((id) => !id.startsWith("group"));
    this.nodes = this.canvas
      .selectAll(".node")
      .data(ids)
      .join("g")
      .attr("class", "node")
      .classed("argument", (id) => graph.node(id).isArgument)
      .attr("tabindex", 0)
      .attr("role", "button")
      .attr("transform", (id) => `translate(${graph.node(id).x},${graph.node(id).y})`)
      .on("click", (_, id) => select(this.text, graph.node(id).line, { from: this }))
      .on("keydown", (event, id) => {
        if (event.key === "Enter") select(this.text, graph.node(id).line, { from: this });
      });
    this.nodes
      .append("rect")
      .attr("rx", 5)
      .attr("x", (id) => -graph.node(id).width / 2)
      .attr("y", -HEIGHT / 2)
      .attr("width", (id) => graph.node(id).width)
      .attr("height", HEIGHT);
    this.nodes.append("text").attr("text-anchor", "middle").attr("y", -3).text((id) => graph.node(id).name);
    this.nodes.append("text").attr("class", "type").attr("text-anchor", "middle").attr("y", 13).text((id) => graph.node(id).type);
    this.nodes.append("title").text((id) => this.text.line(graph.node(id).line).trim());
  }

  mark() {
    const lines = this.relatedNodes();
    const chosen = selection.text === this.text ? this.nodeAt.get(selection.line) : null;
    const isChosen = (id) => this.graph.node(id).line === chosen;
    const isRelated = (id) => !this.graph.node(id).isArgument && lines.has(this.graph.node(id).line);
    this.nodes.classed("related", isRelated).classed("chosen", (id) => isRelated(id) && isChosen(id));
    this.canvas.selectAll(".edge").classed("related", (edge) => isRelated(edge.v) || isRelated(edge.w));
  }

  update({ from }) {
    const place = this.selectedComputation();
    if (from !== this && place !== null) {
      const { nodes } = this.text.graph.computations[place];
      const isDrawn = place === this.number && this.focus(nodes).every((each) => this.drawn.includes(each));
      if (!isDrawn) this.draw(place);
    }
    this.mark();
  }

  fit() {
    const { width, height } = this.svg.node().getBoundingClientRect();
    const { width: wide, height: high } = this.graph.graph();
    if (!width || !wide) return;
    const scale = Math.min(1.2, Math.max(SMALLEST_TEXT, Math.min(width / (wide + 40), height / (high + 40))));
    const lines = this.relatedNodes();
    const chosen = this.graph.nodes().find((id) => !id.startsWith("group") && lines.has(this.graph.node(id).line) && !this.graph.node(id).isArgument);
    const first = this.graph.nodes().find((id) => !id.startsWith("group"));
    const { x: besideX, y: besideY } = chosen ? this.graph.node(chosen) : { x: this.graph.node(first).x, y: 0 };
    const x = within(besideX, wide, width / scale);
    const y = within(besideY, high, height / scale);
    const transform = zoomIdentity.translate(width / 2, height / 2).scale(scale).translate(-x, -y);
    this.svg.call(this.zoom.transform, transform);
  }

  reveal(text) {
    if (!text.graph) return false;
    this.open(text);
    return true;
  }

  key(key) {
    const place = this.texts.indexOf(this.text) + { "[": -1, "]": 1 }[key];
    if (key === "0") this.fit();
    else if (this.texts[place]) this.open(this.texts[place]);
    else return false;
    return true;
  }

  destroy() {}
}

function largest(computations) {
  return computations.reduce((best, each, place) => (each.nodes.length > computations[best].nodes.length ? place : best), 0);
}

function isArgument([, name]) {
  return !name.includes(".");
}

/** Some nodes and what is nearest to them, in their order; the first ones if there are none. */
function around(nodes, focus, most) {
  if (nodes.length <= most) return nodes.map((_, place) => place);
  if (!focus.length) return first(nodes, most);
  const users = nodes.map(() => []);
  nodes.forEach(([, , , ...operands], place) => operands.forEach((operand) => users[operand].push(place)));
  const wanted = new Set(focus.slice(0, most));
  const found = new Set(wanted);
  let ring = [...wanted];
  while (ring.length) {
    const outer = ring.flatMap((place) => {
      // Who else takes an argument or a constant is near in no other way.
      const isShared = isArgument(nodes[place]) || isStart(nodes[place]);
      return [...nodes[place].slice(3), ...(isShared && !wanted.has(place) ? [] : users[place].slice(0, 12))];
    });
    ring = [...new Set(outer)].filter((place) => !found.has(place)).slice(0, most - found.size);
    for (const place of ring) found.add(place);
    if (found.size >= ENOUGH) break;
  }
  return [...found].sort((a, b) => a - b);
}

/** The first operations, and the arguments and constants that they take. */
function first(nodes, most) {
  const found = new Set();
  for (const [place, node] of nodes.entries()) {
    if (found.size >= most) break;
    if (isArgument(node) || isStart(node)) continue;
    found.add(place);
    for (const operand of node.slice(3)) found.add(operand);
  }
  return [...found].sort((a, b) => a - b);
}

function layout(nodes, drawn, types, groups) {
  const graph = new dagre.graphlib.Graph({ compound: true });
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34, marginx: 20, marginy: 20, ranker: drawn.length > 150 ? "longest-path" : "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  const isDrawn = new Set(drawn);
  const add = (place, id, groupOf) => {
    const [line, name, type] = nodes[place];
    const spelled = types[type] ?? "";
    const shown = spelled.length > 44 ? `${spelled.slice(0, 43)}…` : spelled;
    const short = name.replace(/^xla\./, "");
    const width = Math.max(short.length, shown.length, 6) * LETTER + 18;
    graph.setNode(id, { line, name: short, type: shown, width, height: HEIGHT, isArgument: isArgument(nodes[place]) });
    const group = isArgument(nodes[groupOf]) ? undefined : groups.get(nodes[groupOf][0]);
    if (!group) return;
    if (!graph.hasNode(group.id)) graph.setNode(group.id, { title: group.title });
    graph.setParent(id, group.id);
  };
  const used = new Set(drawn.flatMap((place) => nodes[place].slice(3)));
  for (const place of drawn) if (!(isStart(nodes[place]) && used.has(place))) add(place, String(place), place);
  for (const place of drawn) {
    for (const operand of nodes[place].slice(3)) {
      if (!isDrawn.has(operand)) continue;
      // Edges from a constant to all over the program would hide the others.
      const id = isStart(nodes[operand]) ? `${operand} of ${place}` : String(operand);
      if (!graph.hasNode(id)) add(operand, id, place);
      graph.setEdge(id, String(place));
    }
  }
  for (const id of graph.nodes()) if (id.startsWith("group") && graph.children(id).length < 2) graph.removeNode(id);
  dagre.layout(graph);
  return graph;
}

/** Whether a node is a constant or the like, of which each user has its own. */
function isStart(node) {
  return node.length === 3 && !isArgument(node);
}

/** By line of a text that of the innermost node that it belongs to. */
function nodesByLine(text) {
  const found = new Map();
  for (const { line, nodes } of text.graph.computations) {
    for (const [own] of nodes) if (own !== line) for (let each = own; each <= text.end(own); each += 1) found.set(each, own);
  }
  return found;
}

/** By line of a text the group of what is computed together later, where that is one. */
function groupsOf(text) {
  const groups = new Map();
  const fused = states.find((each) => each.name === FUSION) ?? states.filter((each) => each.level === "tensors" && each.graph).at(-1);
  if (!fused?.graph || states.indexOf(fused) <= states.indexOf(text)) return groups;
  const nodeAt = nodesByLine(fused);
  const lines = [...new Set(text.graph.computations.flatMap(({ nodes }) => nodes.map(([line]) => line)))];
  const found = become(text, lines, fused);
  const titles = new Map();
  lines.forEach((line, place) => {
    const own = new Set(found[place].map((each) => nodeAt.get(each)).filter((each) => each !== undefined && isComputation(fused.line(each))));
    if (own.size !== 1) return;
    const [node] = own;
    if (!titles.has(node)) titles.set(node, kernelOf(fused, node));
    groups.set(line, { id: `group${node}`, title: titles.get(node) });
  });
  return groups;
}

/** A fill gives a reduction its start, beside the computation. */
function isComputation(line) {
  return /linalg\.(?!fill)|scf\./.test(line);
}

/** The name of the kernel that a computation becomes. */
function kernelOf(fused, node) {
  const outlined = states.find((each) => each.name === OUTLINING);
  if (!outlined) return "";
  const [lines] = become(fused, [node], outlined);
  for (const line of lines) {
    const name = outlined.line(line).match(/func\.func private @([\w.$-]+)/) ?? outlined.line(line).match(/func\.call @([\w.$-]+)/);
    if (name) return name[1];
  }
  return "";
}

/** Where the middle of a view is that shows a place of something, and nothing but it. */
function within(place, size, room) {
  return size <= room ? size / 2 : Math.min(Math.max(place, room / 2), size - room / 2);
}

function curve(points) {
  const [first, ...rest] = points;
  let path = `M${first.x},${first.y}`;
  rest.forEach((point, place) => {
    const next = rest[place + 1];
    path += next ? `Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}` : `L${point.x},${point.y}`;
  });
  return path;
}
