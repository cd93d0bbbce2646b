import { describe, expect, test } from 'vitest';
import { providerKits } from '../providers/model-kits.ts';
import { inMemoryKit } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { modes } from '../support/streaming-agent.ts';
import { travelWorld } from '../support/travel-world.ts';
import { stories } from './stories.ts';

const combinations = modes.flatMap(({ mode, speak }) =>
  [inMemoryKit, ...providerKits].flatMap((model) =>
    storeKits.map((store) => ({
      model,
      store,
      mode,
      speak,
      name: `${mode}, ${model.name}, ${store.name}`,
    })),
  ),
);

describe.each(combinations)('$name', ({ model, store, mode, speak }) => {
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
