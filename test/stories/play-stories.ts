import { describe, expect, test } from 'vitest';
import { providerKits } from '../providers/model-kits.ts';
import { inMemoryKit } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { modes } from '../support/streaming-agent.ts';
import { travelWorld } from '../support/travel-world.ts';
import { stories } from './stories.ts';
import { pickCases } from '../support/sampling.ts';

/** A provider's own format, or the scripted model; in a mode of its own with each store. */
const combinations = modes.flatMap(({ mode, speak }) =>
  [inMemoryKit, ...pickCases(providerKits)].flatMap((model) =>
    storeKits.map((store, index) => ({
      model,
      store,
      mode,
      speak,
      /** One of both is the one in memory. */
      isPlain: model === inMemoryKit || index === 0,
      name: `${mode}, ${model.name}, ${store.name}`,
    })),
  ),
);

/** Plays every story with every provider and with every store; or with all pairs of these that are left. */
export function playStories(pairs: 'plain' | 'others'): void {
  const chosen = combinations.filter(({ isPlain }) => isPlain === (pairs === 'plain'));
  describe.each(chosen)('$name', ({ model, store, mode, speak }) => {
    const { canSendRawInput = true, canStreamRepeatedIds = true } = model;
    const playable = stories.filter(
      ({ rawInput = false, repeatedIds = false }) =>
        (canSendRawInput || !rawInput) && (mode === 'run' || canStreamRepeatedIds || !repeatedIds),
    );

    test.each(playable)('$name', async ({ script, play }) => {
      await using played = await model.play(script);
      using kept = store.keep();
      await play(travelWorld(played, () => kept.open(), speak));
      expect(played.violations ?? []).toEqual([]);
      for (const body of played.bodies ?? []) {
        expect(Reflect.get(Object(body), 'stream') ?? false).toBe(mode === 'stream');
      }
    });
  });
}
