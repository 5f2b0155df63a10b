// Where the selected line comes from, and what became of it, level by level.
import { select as choose } from "libraries";
import { related, selection, states } from "explorer/state";
import { remarks } from "explorer/fusion";
import { count, label } from "explorer/names";

const MOST_REMARKS = 20;

export function drawTrail(parent, reveal) {
  const root = choose(parent);
  root.selectAll("*").remove();
  if (selection.text === null) {
    root.append("h2").text("Nothing is selected");
    root.append("p").attr("class", "faint").text("Click a line, or move the cursor to one: here is where it comes from and what becomes of it.");
    return;
  }
  root.append("h2").text("From where, to where");
  const items = root.append("ol").selectAll("li").data(steps()).join("li");
  items.classed("here", (step) => step.isHere).classed("none", (step) => !step.lines.length);
  const buttons = items.append("button").on("click", (_, step) => reveal(step.text));
  const heads = buttons.append("div").attr("class", "step");
  heads.append("b").text((step) => label(step.text));
  heads.append("span").text((step) => (step.lines.length ? count(step.lines.length, "line") : step.isBefore ? "not there yet" : "not there any more"));
  buttons
    .filter((step) => step.lines.length)
    .append("code")
    .text((step) => step.text.line(step.lines[0]).trim());
  drawRemarks(root);
}

/** What was fused, and why or why not. */
function drawRemarks(root) {
  const found = remarks();
  if (!found.length) return;
  root.append("h2").text("Fusion");
  const items = root.append("ul").selectAll("li").data(found.slice(0, MOST_REMARKS)).join("li");
  items.append("div").text(({ subject, remark }) => `${subject} ${remark}`);
  items.filter(({ reason }) => reason).append("div").attr("class", "faint").text(({ reason }) => `because ${reason}`);
  if (found.length > MOST_REMARKS) root.append("p").attr("class", "faint").text(`and ${found.length - MOST_REMARKS} more, under Fusion`);
}

/** The texts where the related lines are others than in the one before. */
function steps() {
  const place = states.indexOf(selection.text);
  const found = [];
  let last = null;
  states.forEach((text, number) => {
    const lines = [...related(text)].sort((a, b) => a - b);
    const spelled = lines.map((line) => text.line(line).trim().replace(/%[\w.$-]+/g, "%")).join("\n");
    const isHere = number === place;
    if (spelled !== last || isHere) {
      if (found.length && !found.at(-1).lines.length && !lines.length) return;
      if (isHere && spelled === last && !found.at(-1).isHere) found.pop();
      found.push({ text, lines, isHere, isBefore: number < place });
    }
    last = spelled;
  });
  return found;
}
