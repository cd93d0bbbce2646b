import type { UIMessageChunk } from 'ai';
import type { ModelDelta } from '../../../agent/model.ts';
import { type StreamedPart, StreamedStep, type StreamedText } from '../../../view/streamed-step.ts';
import type { StepPart } from './step-parts.ts';
import { type ThreadViewOptions, toolPartFields } from './thread-view-options.ts';

/**
 * The chunks of a turn's steps: what the model streams, then what is missing of the recorded step. If the two differ, because ids were
 * renamed, blank texts were dropped, or another worker took the step, the page drops the step and gets the recorded one.
 */
export class StepChunks {
  readonly #options: ThreadViewOptions;
  #step = 0;
  #isOpen = false;
  #streamed = this.#newStep();

  constructor(options: ThreadViewOptions) {
    this.#options = options;
  }

  /** The chunks for a delta of the model. */
  ofDelta(delta: ModelDelta): UIMessageChunk[] {
    const chunks = this.#partOf(delta);
    if (chunks.length === 0 || this.#isOpen) return chunks;
    this.#isOpen = true;
    return [{ type: 'start-step' }, ...chunks];
  }

  /** The step is recorded: emits what is missing of it, or all of it. */
  finish(parts: readonly StepPart[]): UIMessageChunk[] {
    const streamed = this.#streamed.parts;
    const isConfirmed = streamed.every((part, index) => isSame(part, parts[index]));
    const confirmed = isConfirmed ? streamed.length : 0;
    const chunks = [
      ...this.#opening(isConfirmed),
      ...streamed.slice(0, confirmed).flatMap((part, index) => ending(part, parts[index])),
      ...this.#whole(parts, confirmed),
    ];
    this.#step += 1;
    this.#clear();
    return chunks;
  }

  /** The step will not be finished in this stream: the page drops what was streamed of it. */
  reset(): UIMessageChunk[] {
    const isOpen = this.#isOpen;
    this.#clear();
    return isOpen ? [{ type: 'reset-step' }] : [];
  }

  #opening(isConfirmed: boolean): UIMessageChunk[] {
    if (!this.#isOpen) return [{ type: 'start-step' }];
    return isConfirmed ? [] : [{ type: 'reset-step' }];
  }

  /* The recorded parts after the first `confirmed`. */
  #whole(parts: readonly StepPart[], confirmed: number): UIMessageChunk[] {
    let blocks = 0;
    return parts.flatMap((part, index): UIMessageChunk[] => {
      if (part.type === 'tool') return index < confirmed ? [] : [part.available];
      if (part.type === 'other') return index < confirmed ? [] : [part.chunk];
      const id = this.#blockId(blocks);
      blocks += 1;
      if (index < confirmed) return [];
      const { type, text } = part;
      return [
        { type: `${type}-start`, id },
        { type: `${type}-delta`, id, delta: text },
        { type: `${type}-end`, id },
      ];
    });
  }

  #partOf(delta: ModelDelta): UIMessageChunk[] {
    const { sendReasoning = true } = this.#options;
    switch (delta.type) {
      case 'reasoning-delta':
        return sendReasoning ? this.#addText('reasoning', delta) : [];
      case 'reasoning-end':
        return this.#endText('reasoning', delta);
      case 'text-delta':
        return this.#addText('text', delta);
      case 'text-end':
        return this.#endText('text', delta);
      case 'reasoning-start':
      case 'text-start':
        /* A blank text is not shown. */
        return [];
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#ofTool(delta);
      case 'source':
        /* The log does not record where in the step it was cited, so it comes with the recorded step, live as after a reload. */
        return [];
    }
  }

  #addText(
    type: StreamedText['type'],
    { id, text }: Pick<StreamedText, 'id' | 'text'>,
  ): UIMessageChunk[] {
    const added = this.#streamed.addText(type, id, text);
    if (added === undefined) return [];
    const { streamed, delta, isFirst } = added;
    const chunk: UIMessageChunk = { type: `${type}-delta`, id: streamed.id, delta };
    return isFirst ? [{ type: `${type}-start`, id: streamed.id }, chunk] : [chunk];
  }

  #endText(type: StreamedText['type'], { id }: Pick<StreamedText, 'id'>): UIMessageChunk[] {
    const ended = this.#streamed.endText(type, id);
    return ended === undefined ? [] : [{ type: `${type}-end`, id: ended.id }];
  }

  #ofTool(delta: Extract<ModelDelta, { type: `tool-${string}` }>): UIMessageChunk[] {
    if (delta.type === 'tool-input-start') {
      const { id: toolCallId, toolName, providerExecuted } = delta;
      this.#streamed.addTool(toolCallId, toolName);
      const executed = providerExecuted === true ? { providerExecuted } : {};
      const fields = toolPartFields(this.#options, toolName);
      return [{ type: 'tool-input-start', toolCallId, toolName, ...executed, ...fields }];
    }
    const isStarted = this.#streamed.parts.some(
      (part) => part.type === 'tool' && part.toolCallId === delta.id,
    );
    if (delta.type !== 'tool-input-delta' || !isStarted) return [];
    return [{ type: delta.type, toolCallId: delta.id, inputTextDelta: delta.delta }];
  }

  #newStep(): StreamedStep {
    return new StreamedStep((_type, before) =>
      this.#blockId(before.filter((part) => part.type !== 'tool').length),
    );
  }

  #blockId(index: number): string {
    return `${this.#step}.${index}`;
  }

  #clear(): void {
    this.#isOpen = false;
    this.#streamed = this.#newStep();
  }
}

function isSame(streamed: StreamedPart, recorded: StepPart | undefined): boolean {
  if (streamed.type === 'tool') {
    return (
      recorded?.type === 'tool' &&
      recorded.toolCallId === streamed.toolCallId &&
      recorded.toolName === streamed.toolName
    );
  }
  return recorded?.type === streamed.type && 'text' in recorded && recorded.text === streamed.text;
}

function ending(streamed: StreamedPart, recorded: StepPart | undefined): UIMessageChunk[] {
  if (streamed.type === 'tool') return recorded?.type === 'tool' ? [recorded.available] : [];
  return streamed.isEnded ? [] : [{ type: `${streamed.type}-end`, id: streamed.id }];
}
