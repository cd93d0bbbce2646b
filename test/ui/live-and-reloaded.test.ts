import * as fc from 'fast-check';
import { lastAssistantMessageHasApprovalResponses } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { generatedStep } from '../support/generated-steps.ts';
import { finishPart, textParts } from '../support/streamed-model.ts';
import { travelTools } from '../support/travel-world.ts';
import { comparable, openApprovals, toolParts } from './chat-page.ts';
import { streamingSite } from './streaming-site.ts';

test('a page shows the same, whatever the model says and people answer', async () => {
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(generatedStep, { minLength: 1, maxLength: 4 }),
      fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      fc.boolean(),
      async (steps, decisions, isDynamic) => {
        const end = [...textParts('0', 'End.'), finishPart()];
        const at = streamingSite(
          [...steps, end, end, end],
          isDynamic ? { tools: travelTools([]) } : {},
          { sendAutomaticallyWhen: lastAssistantMessageHasApprovalResponses },
        );
        const same = async (): Promise<void> => {
          expect(at.errors).toEqual([]);
          expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
        };
        await at.chat.sendMessage({ text: 'Go' });
        await same();
        for (const approved of decisions) {
          const [request] = openApprovals(at.chat.messages);
          if (request === undefined) break;
          await at.respond(request, approved);
          await same();
        }
        calls += toolParts(at.chat.messages).length;
      },
    ),
    { numRuns: 150 },
  );
  expect(calls).toBeGreaterThan(50);
});
