import { describe, test } from 'vitest';
import { expectSound, stride } from './expect-sound.ts';
import { pickShard } from './pick-shard.ts';
import { scenarios } from './scenario.ts';

describe(`a crash at every point, and at pairs of points (1 of ${stride}), breaks nothing:`, () => {
  test.each(pickShard(scenarios))('$name', async (scenario) => expectSound(scenario, stride));
});
