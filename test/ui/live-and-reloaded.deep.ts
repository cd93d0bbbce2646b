import type { UIMessage } from 'ai';
import * as fc from 'fast-check';
import { lastAssistantMessageHasApprovalResponses } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { generatedStep } from '../support/generated-steps.ts';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import { travelTools } from '../support/travel-world.ts';
import { chatPage, comparable, openApprovals, post, toolParts } from './chat-page.ts';
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

/* What was begun on a live page and stopped before its first word shows nothing. */
function visible(messages: readonly UIMessage[]): unknown {
  const shown = messages.map((message) => ({
    ...message,
    parts: message.parts.filter(
      ({ type }, index, { [index + 1]: next }) =>
        type !== 'step-start' || (next !== undefined && next.type !== 'step-start'),
    ),
  }));
  return comparable(shown.filter(({ parts }) => parts.length > 0));
}

/** The answers, the first of which hangs after so many parts. */
function hanging(steps: StreamPart[][], count: number) {
  const hangs = Promise.withResolvers<void>();
  let left = count;
  async function* parts(step: StreamPart[]): AsyncGenerator<StreamPart, void> {
    for (const part of step) {
      left -= 1;
      if (left < 0) {
        hangs.resolve();
        await new Promise(() => {});
      }
      yield part;
    }
  }
  return { answers: steps.map(parts), hangs: hangs.promise };
}

test('S13-11: a page shows the same, wherever in a reply it is stopped, and so does one that came meanwhile', async () => {
  let stopped = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(generatedStep, { minLength: 1, maxLength: 3 }),
      fc.nat({ max: 20 }),
      async (steps, count) => {
        const end = [...textParts('0', 'End.'), finishPart()];
        const { answers, hangs } = hanging([...steps, end, end], count);
        const at = streamingSite(answers, { pollMs: 3_600_000 });
        const sent = at.chat.sendMessage({ text: 'Go' });
        const isHanging = await Promise.race([hangs.then(() => true), sent.then(() => false)]);
        const other = chatPage(at.handler, { messages: await at.reloaded() });
        const resumed = other.chat.resumeStream();
        await new Promise(setImmediate);
        const response = await at.handler(post({ id: 't', stop: true }));
        expect(response.status).toBe(200);
        await Promise.all([sent, resumed]);
        const loaded = visible(await at.reloaded());
        for (const { chat, errors } of [at, other]) {
          expect(errors).toEqual([]);
          expect(visible(chat.messages)).toEqual(loaded);
        }
        if (isHanging) stopped += 1;
      },
    ),
    { numRuns: 100 },
  );
  expect(stopped).toBeGreaterThan(30);
});
