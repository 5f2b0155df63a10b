// What levels and texts are called.

/** Texts in their order, those of one level that follow each other together: [its title, its texts]. */
export function byLevel(texts) {
  const found = [];
  let last;
  for (const text of texts) {
    if (text.level !== last) found.push([text.level || "given alone", []]);
    found.at(-1)[1].push(text);
    last = text.level;
  }
  return found;
}

export function label(text) {
  return text.name.split("/").at(-1);
}

export function seconds(value) {
  if (value === undefined) return "";
  return value < 1 ? `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms` : `${value.toFixed(1)} s`;
}

export function bytes(value) {
  const unit = [
    [1 << 30, "GiB"],
    [1 << 20, "MiB"],
    [1 << 10, "KiB"],
  ].find(([size]) => value >= size);
  return unit ? `${(value / unit[0]).toFixed(value / unit[0] < 10 ? 1 : 0)} ${unit[1]}` : `${value} B`;
}

export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Colours that are told apart by people who see them differently: Paul Tol's `bright`. */
const HUES = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999"];

export function hue(number) {
  return HUES[number % HUES.length];
}
