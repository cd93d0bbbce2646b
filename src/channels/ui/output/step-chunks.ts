import type { UIMessageChunk } from 'ai';
import type { ModelDelta } from '../../../agent/model/streaming-model.ts';
import { addDelta, type StreamedText } from '../../../thread/streamed-text.ts';
import type { StepPart } from './step-parts.ts';
import { type ThreadViewOptions, toolPartFields } from './thread-view-options.ts';

interface Block extends StreamedText {
  /** Empty until the block is shown. */
  id: string;
  isEnded: boolean;
}

/** A part that was streamed before its step was recorded, and may be recorded differently. */
type StreamedPart = Block | { type: 'tool'; toolCallId: string; toolName: string };

type BlockDelta = Extract<
  ModelDelta,
  { id: string; type: `text-${string}` | `reasoning-${string}` }
>;

/**
 * The chunks of a turn's steps: what the model streams, then what is missing of the recorded step. If the two differ, because ids were
 * renamed, blank texts were dropped, or another worker took the step, the page drops the step and gets the recorded one.
 */
export class StepChunks {
  readonly #options: ThreadViewOptions;
  #step = 0;
  #isOpen = false;
  #streamed: StreamedPart[] = [];
  readonly #blocks = new Map<string, Block>();

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
    const streamed = this.#streamed;
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
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return sendReasoning ? this.#ofBlock('reasoning', delta) : [];
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.#ofBlock('text', delta);
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#ofTool(delta);
      case 'source':
        /* The log does not record where in the step it was cited, so it comes with the recorded step, live as after a reload. */
        return [];
    }
  }

  #ofBlock(type: Block['type'], delta: BlockDelta): UIMessageChunk[] {
    const key = `${type} ${delta.id}`;
    const block = this.#blocks.get(key) ?? {
      type,
      id: '',
      text: '',
      isShown: false,
      isEnded: false,
    };
    this.#blocks.set(key, block);
    if ('text' in delta) return this.#addText(block, delta.text);
    if (!delta.type.endsWith('-end')) return [];
    this.#blocks.delete(key);
    if (!block.isShown) return [];
    block.isEnded = true;
    return [{ type: `${type}-end`, id: block.id }];
  }

  #addText(block: Block, text: string): UIMessageChunk[] {
    const delta = addDelta(block, text);
    if (delta === undefined) return [];
    const { type } = block;
    if (block.id !== '') return [{ type: `${type}-delta`, id: block.id, delta }];
    block.id = this.#blockId(this.#streamed.filter((part) => part.type !== 'tool').length);
    this.#streamed.push(block);
    return [
      { type: `${type}-start`, id: block.id },
      { type: `${type}-delta`, id: block.id, delta },
    ];
  }

  #ofTool(delta: Extract<ModelDelta, { type: `tool-${string}` }>): UIMessageChunk[] {
    if (delta.type === 'tool-input-start') {
      const { id: toolCallId, toolName, providerExecuted } = delta;
      this.#streamed.push({ type: 'tool', toolCallId, toolName });
      const executed = providerExecuted === true ? { providerExecuted } : {};
      const fields = toolPartFields(this.#options, toolName);
      return [{ type: 'tool-input-start', toolCallId, toolName, ...executed, ...fields }];
    }
    const isStarted = this.#streamed.some(
      (part) => part.type === 'tool' && part.toolCallId === delta.id,
    );
    if (delta.type !== 'tool-input-delta' || !isStarted) return [];
    return [{ type: delta.type, toolCallId: delta.id, inputTextDelta: delta.delta }];
  }

  #blockId(index: number): string {
    return `${this.#step}.${index}`;
  }

  #clear(): void {
    this.#isOpen = false;
    this.#streamed = [];
    this.#blocks.clear();
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
