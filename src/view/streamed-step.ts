import type { ModelDelta } from '../agent.ts';

/** A delta of a text or a thought. */
export type TextDelta = Extract<
  ModelDelta,
  { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }
>;

/** A text or thought of a step that clients have been sent in part. */
export interface StreamedText {
  type: 'text' | 'reasoning';
  /** The id under which clients have it. */
  id: string;
  text: string;
  isEnded: boolean;
}

/** A part of a step that clients have been sent before the step was recorded, and that may be recorded differently. */
export type StreamedPart = StreamedText | { type: 'tool'; toolCallId: string; toolName: string };

/** A change of a text that clients are sent: its beginning, more of it, its end. */
export interface TextChange extends Pick<StreamedText, 'type' | 'id'> {
  isFirst: boolean;
  delta: string | undefined;
  isLast: boolean;
}

/** Options for the texts of a step on a channel. */
export interface StreamedStepOptions {
  /** Makes the id of a text that clients get after the parts `before`. */
  makeId: (type: StreamedText['type'], before: readonly StreamedPart[]) => string;
  sendReasoning: boolean;
  /** True if all text of the step is shown as one text, which ends with the step. */
  joinsText?: boolean;
}

/** The parts of a step that the model is still streaming, as clients have been sent them, to be compared with the recorded step. */
export class StreamedStep {
  readonly #options: StreamedStepOptions;
  readonly #parts: StreamedPart[] = [];
  /** The blocks that clients have, and the blank beginnings, by the provider's id of the block. */
  readonly #open = new Map<string, StreamedText | string>();

  constructor(options: StreamedStepOptions) {
    this.#options = options;
  }

  /** The parts that clients have been sent, in order. */
  get parts(): readonly StreamedPart[] {
    return this.#parts;
  }

  get texts(): StreamedText[] {
    return this.#parts.filter((part) => part.type !== 'tool');
  }

  addTool(toolCallId: string, toolName: string): void {
    this.#parts.push({ type: 'tool', toolCallId, toolName });
  }

  /** Adds a delta of a text. Returns the change that clients are sent. */
  addText(delta: TextDelta): TextChange[] {
    const { joinsText = false, sendReasoning } = this.#options;
    switch (delta.type) {
      case 'text-delta':
        return this.#add('text', joinsText ? '' : delta.id, delta.text);
      case 'reasoning-delta':
        return sendReasoning ? this.#add('reasoning', delta.id, delta.text) : [];
      case 'text-end':
        return joinsText ? [] : this.#endBlock('text', delta.id);
      case 'reasoning-end':
        return this.#endBlock('reasoning', delta.id);
      case 'text-start':
      case 'reasoning-start':
        /* A blank text is not shown. */
        return [];
    }
  }

  /** Ends the texts that are open. */
  end(): TextChange[] {
    return this.texts.filter(({ isEnded }) => !isEnded).map((streamed) => endText(streamed));
  }

  /**
   * Adds a delta. Returns nothing while the text is blank, then all of it, then each delta. Blank texts are not recorded, or are not shown.
   * A shown text is not read again, because that would take long for a long one.
   */
  #add(type: StreamedText['type'], block: string, delta: string): TextChange[] {
    const key = `${type} ${block}`;
    const before = this.#open.get(key) ?? '';
    if (typeof before === 'object') {
      before.text += delta;
      return [{ type, id: before.id, isFirst: false, delta, isLast: false }];
    }
    const text = before + delta;
    if (isBlank(text)) {
      this.#open.set(key, text);
      return [];
    }
    const id = this.#options.makeId(type, this.#parts);
    const streamed = { type, id, text, isEnded: false };
    this.#open.set(key, streamed);
    this.#parts.push(streamed);
    return [{ type, id, isFirst: true, delta: text, isLast: false }];
  }

  #endBlock(type: StreamedText['type'], block: string): TextChange[] {
    const key = `${type} ${block}`;
    const streamed = this.#open.get(key);
    this.#open.delete(key);
    return typeof streamed === 'object' ? [endText(streamed)] : [];
  }
}

/** Ends a text that clients have, after the rest of it. */
export function endText(streamed: StreamedText, rest?: string): TextChange {
  streamed.isEnded = true;
  const { type, id } = streamed;
  return { type, id, isFirst: false, delta: rest, isLast: true };
}

/** Checks whether a text has nothing to show. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
