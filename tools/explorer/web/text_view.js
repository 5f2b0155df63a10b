// A text in an editor that only shows it: the selected lines and those related to them are marked.
import {
  Decoration,
  EditorState,
  EditorView,
  RangeSetBuilder,
  StateEffect,
  StateField,
  Text,
  defaultKeymap,
  drawSelection,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  search,
  searchKeymap,
} from "libraries";
import { language } from "explorer/languages";
import { related, select, selection } from "explorer/state";

const MOST_MARKED = 50_000;

const look = EditorView.theme({
  "&": { backgroundColor: "var(--paper)", color: "var(--ink)", fontSize: "12px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--accent)", padding: "4px 0 40vh" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--paper)", border: "0", color: "var(--faint)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.6em", opacity: "0.7" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)", opacity: "1" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-line.related": { backgroundColor: "var(--related)" },
  ".cm-line.chosen": { backgroundColor: "var(--chosen)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--ink)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--rule)" },
  ".cm-textfield, .cm-button": {
    background: "var(--paper)", border: "1px solid var(--rule)", borderRadius: "6px", color: "inherit", fontSize: "12px",
  },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--token-number) 35%, transparent)" },
  ".cm-collapsedLines": {
    background: "var(--panel)", color: "var(--faint)", padding: "2px 8px", fontFamily: "system-ui, sans-serif",
  },
  ".cm-deletedChunk": { backgroundColor: "var(--removed)", padding: "0 6px" },
  ".cm-deletedChunk .cm-deletedText, .cm-deletedLine .cm-deletedText": {
    background: "color-mix(in srgb, #d33 30%, transparent)",
  },
  ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--added) !important" },
  ".cm-changedText": { background: "color-mix(in srgb, #2a4 32%, transparent) !important" },
  ".cm-deletedLine del, .cm-insertedLine ins": { textDecoration: "none" },
});

const marks = StateEffect.define();
const marked = StateField.define({
  create: () => Decoration.none,
  update: (old, transaction) => transaction.effects.find((each) => each.is(marks))?.value ?? old,
  provide: (field) => EditorView.decorations.from(field),
});

const relatedLine = Decoration.line({ class: "related" });
const chosenLine = Decoration.line({ class: "chosen" });

/** Whether long lines go on in the next one, instead of beyond the edge. */
const wrapping = { isOn: false };

export function toggleWrapping() {
  wrapping.isOn = !wrapping.isOn;
}

export class TextView {
  constructor(parent, text, extensions = []) {
    this.text = text;
    /** Whether a change of the cursor is ours, not the reader's. */
    this.isMoving = false;
    this.editor = new EditorView({
      parent,
      state: EditorState.create({
        doc: Text.of(text.strings.length ? text.strings : [""]),
        extensions: [
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ "aria-label": text.name, "aria-readonly": "true" }),
          lineNumbers({ formatNumber: (line) => text.base.numbered(line - 1) }),
          highlightActiveLineGutter(),
          drawSelection(),
          search({ top: true }),
          keymap.of([...searchKeymap, ...defaultKeymap]),
          language(text.kind),
          wrapping.isOn ? EditorView.lineWrapping : [],
          look,
          marked,
          EditorView.updateListener.of((update) => this.follow(update)),
          extensions,
        ],
      }),
    });
  }

  follow(update) {
    if (!update.selectionSet || this.isMoving) return;
    const line = update.state.doc.lineAt(update.state.selection.main.head).number - 1;
    if (selection.text === this.text.base && this.text.base.start(line) === selection.line) return;
    select(this.text, line, { from: this });
  }

  /** Marks the lines related to the selection; returns them in order. */
  mark() {
    const lines = [...related(this.text)].sort((a, b) => a - b);
    const { doc } = this.editor.state;
    const builder = new RangeSetBuilder();
    for (const line of lines.slice(0, MOST_MARKED)) {
      const at = doc.line(line + 1).from;
      const isChosen = selection.text === this.text.base && line === selection.line;
      builder.add(at, at, isChosen ? chosenLine : relatedLine);
    }
    this.editor.dispatch({ effects: marks.of(builder.finish()) });
    return lines;
  }

  /** Puts a line into view. */
  show(line, { withCursor = false } = {}) {
    const { from } = this.editor.state.doc.line(line + 1);
    this.isMoving = true;
    this.editor.dispatch({
      effects: EditorView.scrollIntoView(from, { y: "center" }),
      ...(withCursor ? { selection: { anchor: from } } : {}),
    });
    this.isMoving = false;
  }

  focus() {
    this.editor.focus();
  }

  destroy() {
    this.editor.destroy();
  }
}
