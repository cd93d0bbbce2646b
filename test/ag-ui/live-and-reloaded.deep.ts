import type { HttpAgent } from '@ag-ui/client';
import { createAgent } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { generatedStep } from '../support/generated-steps.ts';
import {
  finishPart,
  type StreamPart,
  streamedModel,
  textParts,
} from '../support/streamed-model.ts';
import { travelTools } from '../support/travel-world.ts';
import { client, typesOf } from './ag-ui-site.ts';

/** A thread whose model streams these answers, and a client of it. */
function streaming(answers: StreamPart[][]) {
  const { model } = streamedModel(...answers);
  const tools = travelTools([]);
  const agent = createAgent({
    model,
    tools,
    toolApproval: { book: 'user-approval' },
    maxRetries: 0,
  });
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  return { handler, ...client(handler) };
}

/* A thought that is not recorded, as nothing came of it, is the client's to keep: no snapshot takes it away. */
const spoken = ({ messages }: HttpAgent) => messages.filter(({ role }) => role !== 'reasoning');

test('a client shows the same, whatever the model says and people answer, and is told nothing twice', async () => {
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(generatedStep, { minLength: 1, maxLength: 4 }),
      fc.array(fc.constantFrom(true, false, undefined), { minLength: 8, maxLength: 8 }),
      async (steps, decisions) => {
        const end = [...textParts('0', 'End.'), finishPart()];
        const at = streaming([...steps, end, end, end]);
        const same = async (): Promise<void> => {
          const again = client(at.handler);
          await again.run();
          expect(spoken(at.agent)).toEqual(spoken(again.agent));
          expect(at.agent.pendingInterrupts).toEqual(again.agent.pendingInterrupts);
        };
        const first = await at.say('Go');
        if (typesOf(first).at(-1) === 'RUN_ERROR') await at.run();
        await same();
        for (const approved of decisions) {
          if (at.agent.pendingInterrupts.length === 0) break;
          const [answer, ...others] = at.agent.pendingInterrupts.map(() =>
            approved === undefined ? undefined : { approved },
          );
          await at.answer(...(approved === false ? [answer] : [answer, ...others]));
          await same();
        }
        calls += at.agent.messages.filter(({ role }) => role === 'tool').length;
        /* Refused where something is still asked, which the client would not send. */
        at.agent.pendingInterrupts = [];
        expect(typesOf(await at.say('And?'))[1]).not.toBe('MESSAGES_SNAPSHOT');
      },
    ),
    { numRuns: 150 },
  );
  expect(calls).toBeGreaterThan(50);
});
