// The program that the page shows: its texts, how their lines are related, and what is selected.

const encoded = document.getElementById("data").textContent;
const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const content = JSON.parse(await new Response(stream).text());

/** One text. Where a pass has changed nothing, its text is that of the one before. */
class ProgramText {
  constructor(row, index, before) {
    Object.assign(this, row);
    this.index = index;
    this.isSame = row.lines === undefined;
    /** The text whose lines these are. */
    this.base = this.isSame ? before.base : this;
    /** The last different text before this one. */
    this.origin = this.isSame ? before.origin : (before?.base ?? null);
  }

  get lineIds() {
    return this.base.lines;
  }

  get length() {
    return this.lineIds.length;
  }

  line(number) {
    return content.lines[this.lineIds[number]];
  }

  /** What a line is called: lines of sources have the numbers of their files. */
  numbered(line) {
    return this.numbers ? String(this.numbers[line] || "") : String(line + 1);
  }

  get strings() {
    return this.lineIds.map((id) => content.lines[id]);
  }

  /** For lines those of `origin` that they come from. */
  get sources() {
    return (this.base.linked ??= new Map(this.base.links.map(([line, ...from]) => [line, from])));
  }

  /** For lines of `origin` those that they have become here. */
  get outcomes() {
    if (this.base.inverted) return this.base.inverted;
    const found = new Map();
    for (const [line, sources] of this.sources) {
      for (const source of sources) {
        const lines = found.get(source);
        if (lines) lines.push(line);
        else found.set(source, [line]);
      }
    }
    return (this.base.inverted = found);
  }

  /** The last line of what starts at a line. */
  end(line) {
    this.base.ends ??= decodeSpans(this.base.spans);
    return this.base.ends.get(line) ?? line;
  }

  /** The line at which the innermost thing starts that a line belongs to. */
  start(line) {
    if (this.base.starts === undefined) {
      const starts = (this.base.starts = Int32Array.from({ length: this.length }, (_, i) => i));
      const spans = [];
      for (let i = 0; i < this.base.spans.length; i += 2) spans.push(this.base.spans.slice(i, i + 2));
      // From the outside in; a line that something else starts at or goes on to is its own.
      spans.sort(([a, b], [c, d]) => a - c || d - b);
      for (const [first, last] of spans) {
        if (!/^\s*[})]/.test(this.line(last))) continue;
        starts[last] = first;
        for (let line = first + 1; line < last; line += 1) {
          if (/^\s*(\^|\} (else|do)|\}, \{)/.test(this.line(line)) && !this.sources.has(line)) {
            starts[line] = first;
          }
        }
      }
    }
    return this.base.starts[line] ?? line;
  }
}

function decodeSpans(numbers) {
  const ends = new Map();
  for (let i = 0; i < numbers.length; i += 2) ends.set(numbers[i], numbers[i + 1]);
  return ends;
}

export const title = content.title;
export const views = content.views;
export const texts = [];
for (const row of content.documents) texts.push(new ProgramText(row, texts.length, texts.at(-1)));
/** The texts that differ from the one before. */
export const states = texts.filter((text) => !text.isSame);

/** What is selected: the lines of one operation, in one text. */
export const selection = { text: null, line: 0, lines: new Set(), cache: new Map() };

export const events = new EventTarget();

export function select(text, line, { from } = {}) {
  const base = text.base;
  const start = base.start(line);
  const lines = new Set();
  for (let each = start; each <= base.end(start); each += 1) lines.add(each);
  Object.assign(selection, { text: base, line: start, lines, cache: new Map([[base, lines]]) });
  events.dispatchEvent(new CustomEvent("select", { detail: { from } }));
}

export function deselect() {
  Object.assign(selection, { text: null, line: 0, lines: new Set(), cache: new Map() });
  events.dispatchEvent(new CustomEvent("select", { detail: {} }));
}

/** The lines of a text that the selected ones come from, or that they have become. */
export function related(text) {
  if (selection.text === null) return new Set();
  const wanted = text.base;
  const known = selection.cache.get(wanted);
  if (known) return known;
  const place = states.indexOf(wanted);
  const forward = place > states.indexOf(selection.text);
  const lines = new Set();
  if (forward) {
    for (const line of related(states[place - 1])) {
      for (const outcome of wanted.outcomes.get(line) ?? []) lines.add(outcome);
    }
  } else {
    const next = states[place + 1];
    for (const line of related(next)) {
      for (const source of next.sources.get(line) ?? []) lines.add(source);
    }
  }
  selection.cache.set(wanted, lines);
  return lines;
}

/** For each of some lines of a text the lines that they become in a later one. */
export function become(text, lines, later) {
  let found = lines.map((line) => [line]);
  for (let place = states.indexOf(text.base) + 1; place <= states.indexOf(later.base); place += 1) {
    const { outcomes } = states[place];
    found = found.map((own) => [...new Set(own.flatMap((line) => outcomes.get(line) ?? []))]);
  }
  return found;
}
