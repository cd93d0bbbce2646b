import type { ProviderPart } from '../agent/model/collected-response.ts';
import type { ModelDelta } from '../agent/model/streaming-model.ts';

/** A piece of a text or of a thought. */
export type BlockDelta = Extract<
  ModelDelta,
  { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }
>;

/** The blocks of text and thought of a run. Providers begin their ids anew in every answer; the caller sees one answer. */
export class ToldBlocks {
  readonly #open = new Map<string, 'text-end' | 'reasoning-end'>();
  #answers = 0;

  /** The part for a piece. */
  of(event: BlockDelta): ProviderPart {
    const id = `${this.#answers}.${event.id}`;
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

  /** Ends the answer, and the blocks that it leaves open where it was cut off. */
  end(): ProviderPart[] {
    const ends = [...this.#open].map(([id, type]): ProviderPart => ({ type, id }));
    this.#open.clear();
    this.#answers += 1;
    return ends;
  }
}
