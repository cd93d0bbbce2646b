import { describe, expect, test } from 'vitest';
import { providerKits } from '../providers/model-kits.ts';
import { inMemoryKit } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { travelWorld } from '../support/travel-world.ts';
import { stories } from './stories.ts';

const combinations = [inMemoryKit, ...providerKits].flatMap((model) =>
  storeKits.map((store) => ({ model, store, name: `${model.name}, ${store.name}` })),
);

describe.each(combinations)('$name', ({ model, store }) => {
  const playable = stories.filter(({ rawInput }) => !rawInput || model.canSendRawInput !== false);

  test.each(playable)('$name', async ({ script, play }) => {
    await using played = await model.play(script);
    using kept = store.keep();
    await play(travelWorld(played, () => kept.open()));
    expect(played.violations ?? []).toEqual([]);
  });
});
