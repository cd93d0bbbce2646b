import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ScriptedStep } from '../support/script.ts';
import type { AnthropicMessage, AssistantBlock, ThinkingBlock } from './anthropic-request.ts';
import { ReasoningMemory } from './reasoning-memory.ts';

interface Given {
  block: ThinkingBlock;
  /** What came right after it. */
  next: AssistantBlock['type'] | undefined;
}

/**
 * The thinking that one server gave, which has to come back as it was and where it was. Anthropic itself refuses what
 * it did not sign; that a call must not lose its thinking is what its documentation asks for, and refused here too.
 */
export class AnthropicThinking {
  readonly #given = new Map<string, Given>();
  readonly #memory = new ReasoningMemory();

  /** The thinking that a step begins with; an empty one is given as a redacted block. */
  give({ reasoning, text = '', calls = [] }: ScriptedStep): ThinkingBlock[] {
    if (reasoning === undefined) {
      this.#memory.remember(undefined, calls);
      return [];
    }
    const seal = createHash('sha512').update(`${this.#given.size} ${reasoning}`).digest('base64');
    const block: ThinkingBlock =
      reasoning === ''
        ? { type: 'redacted_thinking', data: seal }
        : { type: 'thinking', thinking: reasoning, signature: seal };
    const afterText = calls.length > 0 ? 'tool_use' : undefined;
    this.#given.set(seal, { block, next: text === '' ? afterText : 'text' });
    this.#memory.remember(seal, calls);
    return [block];
  }

  *violations(messages: readonly AnthropicMessage[]): Generator<string> {
    const seen = new Set<string>();
    for (const [index, message] of messages.entries()) {
      if (message.role !== 'assistant' || typeof message.content === 'string') continue;
      for (const fault of this.#faults(message.content, seen)) yield `messages.${index}: ${fault}`;
    }
  }

  *#faults(blocks: readonly AssistantBlock[], seen: Set<string>): Generator<string> {
    for (const [place, block] of blocks.entries()) {
      if (block.type === 'tool_use') {
        const seals = this.#memory.before(block);
        const [first] = blocks;
        if (seals.length > 0 && !seals.includes(sealOf(first) ?? '')) {
          yield `tool_use ${block.id} came back without the thinking it began with`;
        }
      }
      const seal = sealOf(block);
      if (seal === undefined) continue;
      if (place === blocks.length - 1) yield 'the last block must not be thinking';
      const given = this.#given.get(seal);
      if (!isDeepStrictEqual(given?.block, block)) yield 'thinking came back changed';
      else if (given?.next !== blocks[place + 1]?.type) yield 'thinking came back out of its place';
      if (seen.has(seal)) yield 'thinking came back twice';
      seen.add(seal);
    }
  }
}

function sealOf(block: AssistantBlock | undefined): string | undefined {
  if (block?.type === 'thinking') return block.signature;
  return block?.type === 'redacted_thinking' ? block.data : undefined;
}
