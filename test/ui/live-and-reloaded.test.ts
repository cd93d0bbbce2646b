import * as fc from 'fast-check';
import { lastAssistantMessageHasApprovalResponses } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import { travelTools } from '../support/travel-world.ts';
import { comparable, openApprovals, toolParts } from './chat-page.ts';
import { call, city, reasoningParts, streamingSite } from './streaming-site.ts';

const text = fc.constantFrom('Hi.', ' ', '', '\n\n', 'a b', '<b>', '\u202e');
const id = fc.constantFrom('c1', 'c2', 'c3');
const name = fc.constantFrom('book', 'look', 'fail', 'nope', 'toString', 'a.b');
const input = fc.constantFrom(
  city,
  '{"city":"Paris","price":1}',
  '{}',
  '{"city":',
  '{"__proto__":1}',
);
const part: fc.Arbitrary<StreamPart[]> = fc.oneof(
  fc.tuple(id, fc.array(text, { maxLength: 3 })).map(([key, deltas]) => textParts(key, ...deltas)),
  fc
    .tuple(id, fc.array(text, { maxLength: 3 }))
    .map(([key, deltas]) => reasoningParts(key, ...deltas)),
  fc.tuple(id, name, input).map(([key, toolName, given]) => call(key, toolName, given)),
  fc.tuple(id, name, input).map(([key, toolName, given]) => call(key, toolName, given).slice(-1)),
  fc.constant<StreamPart[]>([
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
  ]),
  fc.constant<StreamPart[]>([{ type: 'source', sourceType: 'url', id: 's', url: 'http://a.test' }]),
  id.map((key): StreamPart[] => [
    {
      type: 'tool-input-start',
      id: key,
      toolName: 'search',
      providerExecuted: true,
      dynamic: true,
    },
    { type: 'tool-input-end', id: key },
    {
      type: 'tool-call',
      toolCallId: key,
      toolName: 'search',
      input: '{}',
      providerExecuted: true,
      dynamic: true,
    },
    {
      type: 'tool-result',
      toolCallId: key,
      toolName: 'search',
      result: { found: key },
      dynamic: true,
    },
  ]),
  fc.constant<StreamPart[]>([
    { type: 'text-start', id: 'open' },
    { type: 'text-delta', id: 'open', delta: 'never ended' },
  ]),
);
const finish = fc.constantFrom('stop', 'tool-calls', 'length').map((reason) => finishPart(reason));
const step = fc
  .tuple(fc.array(part, { maxLength: 4 }), finish)
  .map(([parts, end]) => [...parts.flat(), end]);

test('a page shows the same, whatever the model says and people answer', async () => {
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 4 }),
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
