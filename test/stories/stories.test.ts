import { describe, test } from 'vitest';
import { inMemoryKit } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { travelWorld } from '../support/travel-world.ts';
import { stories } from './stories.ts';

describe.each(storeKits)('with $name', ({ keep }) => {
  test.each(stories)('$name', async ({ script, play }) => {
    await using played = await inMemoryKit.play(script);
    using kept = keep();
    await play(travelWorld(played, () => kept.open()));
  });
});
