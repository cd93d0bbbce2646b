import type { ModelDelta, ProviderPart, ProviderResponse } from '../agent/model.ts';

/** A delta of a text or reasoning block. */
export type BlockDelta = Extract<
  ModelDelta,
  { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }
>;

/**
 * The text and reasoning blocks of a run as stream parts. Providers restart their block ids in every response; a run combines several
 * responses into one stream, so the ids are made unique.
 */
export class BlockParts {
  readonly #open = new Map<string, 'text-end' | 'reasoning-end'>();
  #responses = 0;

  /** Converts a delta to its part. */
  of(event: BlockDelta): ProviderPart {
    const id = `${this.#responses}.${event.id}`;
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const { type, text: delta, providerMetadata } = event;
        return { type, id, delta, providerMetadata };
      }
      case 'text-start':
        this.#open.set(id, 'text-end');
        return { ...event, id };
      case 'reasoning-start':
        this.#open.set(id, 'reasoning-end');
        return { ...event, id };
      case 'text-end':
      case 'reasoning-end':
        this.#open.delete(id);
        return { ...event, id };
    }
  }

  /** Ends the response and closes the blocks that an aborted response left open. */
  end(): ProviderPart[] {
    const ends = [...this.#open].map(([id, type]): ProviderPart => ({ type, id }));
    this.#open.clear();
    this.#responses += 1;
    return ends;
  }
}

/** The parts of a complete text or reasoning block. */
export function wholeBlock(
  type: 'text' | 'reasoning',
  id: string,
  delta: string,
  providerMetadata?: ProviderResponse['providerMetadata'],
): ProviderPart[] {
  return [
    { type: `${type}-start`, id, providerMetadata },
    { type: `${type}-delta`, id, delta },
    { type: `${type}-end`, id },
  ];
}
