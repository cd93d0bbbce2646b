import { simulateStreamingMiddleware, wrapLanguageModel } from 'ai';
import type { Agent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { providerKits } from '../providers/model-kits.ts';
import type { ModelKit } from '../support/script.ts';
import { inMemoryKit } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { streamingAgent } from '../support/streaming-agent.ts';
import { travelWorld } from '../support/travel-world.ts';
import { stories } from './stories.ts';

/** The providers' servers send whole answers; these are cut into a stream behind the provider's package. */
const streamingKits: ModelKit[] = providerKits.map((kit) => ({
  ...kit,
  async play(script) {
    const played = await kit.play(script);
    const { model } = played;
    if (typeof model === 'string') throw new TypeError('A kit gives a model, not an id.');
    return {
      ...played,
      model: wrapLanguageModel({ model, middleware: simulateStreamingMiddleware() }),
      get requests() {
        return played.requests;
      },
      [Symbol.asyncDispose]: () => played[Symbol.asyncDispose](),
    };
  },
}));

const spoken = (agent: Agent): Agent => agent;
const modes = [
  { mode: 'run', speak: spoken, kits: providerKits },
  { mode: 'stream', speak: streamingAgent, kits: streamingKits },
];
const combinations = modes.flatMap(({ mode, speak, kits }) =>
  [inMemoryKit, ...kits].flatMap((model) =>
    storeKits.map((store) => ({
      model,
      store,
      speak,
      name: `${mode}, ${model.name}, ${store.name}`,
    })),
  ),
);

describe.each(combinations)('$name', ({ model, store, speak }) => {
  const playable = stories.filter(({ rawInput }) => !rawInput || model.canSendRawInput !== false);

  test.each(playable)('$name', async ({ script, play }) => {
    await using played = await model.play(script);
    using kept = store.keep();
    await play(travelWorld(played, () => kept.open(), speak));
    expect(played.violations ?? []).toEqual([]);
  });
});
