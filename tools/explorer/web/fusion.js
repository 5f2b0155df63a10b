// What was fused with what, and why or why not, as the pass that planned it says.
import { related, texts, views } from "explorer/state";

/** The text before that pass. */
export const text = texts[views.fusion?.document];

export const rows = (views.fusion?.rows ?? []).map(([line, subject, remark, reason]) => ({
  line,
  // Of a place the name of the file is enough.
  subject: shortened(subject),
  remark: shortened(remark),
  reason,
}));

/** What is said of the selected line, each once. */
export function remarks() {
  if (!text) return [];
  const lines = related(text);
  const found = new Map();
  for (const row of rows) {
    const { line, subject, remark, reason } = row;
    if (lines.has(line)) found.set([subject, remark, reason].join("\n"), row);
  }
  return [...found.values()];
}

function shortened(words) {
  return words.replace(/ at \S*\//g, " at ");
}
