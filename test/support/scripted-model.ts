import { scriptedModel } from 'holdpoint/testing';
import type { ModelKit } from './script.ts';

export { scriptedModel } from 'holdpoint/testing';

/** The scripted model as a kit. */
export const inMemoryKit: ModelKit = {
  name: 'scripted model',
  async play(script) {
    const played = scriptedModel(script);
    return {
      model: played.model,
      get requests() {
        return played.requests;
      },
      async [Symbol.asyncDispose]() {},
    };
  },
};
