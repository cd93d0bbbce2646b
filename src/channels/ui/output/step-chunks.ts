import type { UIMessageChunk } from 'ai';
import type { ModelDelta } from '../../../agent/model/streaming-model.ts';
import type { StepPart } from './step-parts.ts';
import { type ThreadViewOptions, toolPartFields } from './thread-view-options.ts';

/** A piece that was told while the model said it, and may turn out otherwise. */
type StreamedPart =
  | { type: 'text' | 'reasoning'; id: string; text: string; isEnded: boolean }
  | { type: 'tool'; toolCallId: string; toolName: string };
type Block = Extract<StreamedPart, { id: string }>;

type BlockDelta = Extract<
  ModelDelta,
  { id: string; type: `text-${string}` | `reasoning-${string}` }
>;

/**
 * Tells the steps of a turn: what the model says while it says it, and then what was recorded. Where these differ, as ids were
 * renamed, blanks dropped, or another worker took the step, the page is made to forget, and is told what was recorded.
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

  /** What a piece of the model's answer shows. */
  fromDelta(delta: ModelDelta): UIMessageChunk[] {
    const chunks = this.#heard(delta);
    if (chunks.length === 0 || this.#isOpen) return chunks;
    this.#isOpen = true;
    return [{ type: 'start-step' }, ...chunks];
  }

  /** The step is recorded: what is missing of it, or all of it. */
  finish(parts: readonly StepPart[]): UIMessageChunk[] {
    const told = this.#streamed;
    const isConfirmed = told.every((piece, index) => isSame(piece, parts[index]));
    const begun = isConfirmed ? told.length : 0;
    const chunks = [
      ...this.#opening(isConfirmed),
      ...told.slice(0, begun).flatMap((piece, index) => ending(piece, parts[index])),
      ...this.#whole(parts, begun),
    ];
    this.#step += 1;
    this.#forget();
    return chunks;
  }

  /** The step will not be finished here: the page forgets what it was told of it. */
  reset(): UIMessageChunk[] {
    const isTold = this.#isOpen;
    this.#forget();
    return isTold ? [{ type: 'reset-step' }] : [];
  }

  #opening(isConfirmed: boolean): UIMessageChunk[] {
    if (!this.#isOpen) return [{ type: 'start-step' }];
    return isConfirmed ? [] : [{ type: 'reset-step' }];
  }

  #whole(parts: readonly StepPart[], begun: number): UIMessageChunk[] {
    let blocks = 0;
    return parts.flatMap((piece, index): UIMessageChunk[] => {
      if (piece.type === 'tool') return index < begun ? [] : [piece.available];
      if (piece.type === 'other') return index < begun ? [] : [piece.chunk];
      const id = this.#blockId(blocks);
      blocks += 1;
      if (index < begun) return [];
      const { type, text } = piece;
      return [
        { type: `${type}-start`, id },
        { type: `${type}-delta`, id, delta: text },
        { type: `${type}-end`, id },
      ];
    });
  }

  #heard(delta: ModelDelta): UIMessageChunk[] {
    const { sendReasoning = true } = this.#options;
    switch (delta.type) {
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return sendReasoning ? this.#hearBlock('reasoning', delta) : [];
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return this.#hearBlock('text', delta);
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#hearTool(delta);
      case 'source':
        /* The log does not say where in the answer it stood: it is told with the recorded step, live as after a reload. */
        return [];
    }
  }

  /* A block is begun on the page when it says something: what stays blank is not recorded, or shows nothing. */
  #hearBlock(type: Block['type'], delta: BlockDelta): UIMessageChunk[] {
    const key = `${type} ${delta.id}`;
    const block = this.#blocks.get(key) ?? { type, id: '', text: '', isEnded: false };
    this.#blocks.set(key, block);
    if ('text' in delta) return this.#addText(block, delta.text);
    if (!delta.type.endsWith('-end')) return [];
    this.#blocks.delete(key);
    if (block.id === '') return [];
    block.isEnded = true;
    return [{ type: `${type}-end`, id: block.id }];
  }

  #addText(block: Block, delta: string): UIMessageChunk[] {
    block.text += delta;
    const { type, text } = block;
    if (block.id !== '') return [{ type: `${type}-delta`, id: block.id, delta }];
    if (text.trim() === '') return [];
    block.id = this.#blockId(this.#streamed.filter((piece) => piece.type !== 'tool').length);
    this.#streamed.push(block);
    return [
      { type: `${type}-start`, id: block.id },
      { type: `${type}-delta`, id: block.id, delta: text },
    ];
  }

  #hearTool(delta: Extract<ModelDelta, { type: `tool-${string}` }>): UIMessageChunk[] {
    if (delta.type === 'tool-input-start') {
      const { id: toolCallId, toolName, providerExecuted } = delta;
      this.#streamed.push({ type: 'tool', toolCallId, toolName });
      const executed = providerExecuted === true ? { providerExecuted } : {};
      const look = toolPartFields(this.#options, toolName);
      return [{ type: 'tool-input-start', toolCallId, toolName, ...executed, ...look }];
    }
    const isBegun = this.#streamed.some(
      (piece) => piece.type === 'tool' && piece.toolCallId === delta.id,
    );
    if (delta.type !== 'tool-input-delta' || !isBegun) return [];
    return [{ type: delta.type, toolCallId: delta.id, inputTextDelta: delta.delta }];
  }

  #blockId(index: number): string {
    return `${this.#step}.${index}`;
  }

  #forget(): void {
    this.#isOpen = false;
    this.#streamed = [];
    this.#blocks.clear();
  }
}

function isSame(told: StreamedPart, recorded: StepPart | undefined): boolean {
  if (told.type === 'tool') {
    return (
      recorded?.type === 'tool' &&
      recorded.toolCallId === told.toolCallId &&
      recorded.toolName === told.toolName
    );
  }
  return recorded?.type === told.type && 'text' in recorded && recorded.text === told.text;
}

function ending(told: StreamedPart, recorded: StepPart | undefined): UIMessageChunk[] {
  if (told.type === 'tool') return recorded?.type === 'tool' ? [recorded.available] : [];
  return told.isEnded ? [] : [{ type: `${told.type}-end`, id: told.id }];
}
