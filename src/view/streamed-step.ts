/** A text or thought of a step, of which clients have been sent a part. */
export interface StreamedText {
  type: 'text' | 'reasoning';
  /** The id under which clients have it. */
  id: string;
  text: string;
  isEnded: boolean;
}

/** A part of a step that clients have been sent before the step was recorded, and that may be recorded differently. */
export type StreamedPart = StreamedText | { type: 'tool'; toolCallId: string; toolName: string };

/** What clients can be sent of a text now. */
interface AddedText {
  streamed: StreamedText;
  delta: string;
  isFirst: boolean;
}

/** The parts of a step that the model is still streaming, as clients have been sent them, to be compared with the recorded step. */
export class StreamedStep {
  readonly #makeId: (type: StreamedText['type'], before: readonly StreamedPart[]) => string;
  readonly #parts: StreamedPart[] = [];
  /** By the provider's id of the block: those that clients have, and the beginnings that are blank. */
  readonly #open = new Map<string, StreamedText | string>();

  /** `makeId` makes the id of a text that clients get after the parts `before`. */
  constructor(makeId: (type: StreamedText['type'], before: readonly StreamedPart[]) => string) {
    this.#makeId = makeId;
  }

  /** What clients have been sent, in that order. */
  get parts(): readonly StreamedPart[] {
    return this.#parts;
  }

  get texts(): StreamedText[] {
    return this.#parts.filter((part) => part.type !== 'tool');
  }

  addTool(toolCallId: string, toolName: string): void {
    this.#parts.push({ type: 'tool', toolCallId, toolName });
  }

  /**
   * Adds a delta to the text of a block: `undefined` while the text is blank, then all of it, then each delta. Blank texts are not recorded,
   * or are not shown. A shown text is not read again, because that would take long for a long one.
   */
  addText(type: StreamedText['type'], block: string, delta: string): AddedText | undefined {
    const key = `${type} ${block}`;
    const before = this.#open.get(key) ?? '';
    if (typeof before === 'object') {
      before.text += delta;
      return { streamed: before, delta, isFirst: false };
    }
    const text = before + delta;
    if (isBlank(text)) {
      this.#open.set(key, text);
      return undefined;
    }
    const streamed = { type, id: this.#makeId(type, this.#parts), text, isEnded: false };
    this.#open.set(key, streamed);
    this.#parts.push(streamed);
    return { streamed, delta: text, isFirst: true };
  }

  /** Ends the text of a block. Returns it if clients have it. */
  endText(type: StreamedText['type'], block: string): StreamedText | undefined {
    const key = `${type} ${block}`;
    const streamed = this.#open.get(key);
    this.#open.delete(key);
    if (typeof streamed !== 'object') return undefined;
    streamed.isEnded = true;
    return streamed;
  }
}

/** Whether a text has nothing to show. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
