import { tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { memoryWorld } from '../support/travel-world.ts';

/** Runs one call with arguments as the model wrote them, or as a schema made them. */
async function callWith(input: string, schema: z.ZodType = z.unknown()) {
  const ran: unknown[] = [];
  const world = memoryWorld([{ calls: [{ id: 'c1', name: 'pay', input }] }, { text: 'Done.' }]);
  const pay = tool({
    description: 'pay',
    inputSchema: schema,
    execute: async (given) => {
      ran.push(given);
      return 'paid';
    },
  });
  const agent = world.agent({ tools: { pay }, toolApproval: { pay: 'user-approval' } });
  const waiting = await agent.run('Pay', await agent.thread('t'));
  const response = await agent.run(
    waiting.approvalRequests.map((request) => request.approve()),
    waiting.thread,
  );
  expect(response.text).toBe('Done.');
  return { shown: waiting.approvalRequests[0]?.toolCall?.input, ran, calls: response.thread.calls };
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('an input that readers could understand differently is refused, and never asked about:', () => {
  test.each([
    ['an integer beyond 2^53', '{"amount":9007199254740993}'],
    ['an infinity', '{"amount":1e400}'],
    ['half a surrogate pair', '{"to":"\\ud800"}'],
    ['half a surrogate pair in a key', '{"\\udfff":1}'],
    ['a __proto__ key', '{"__proto__":{"admin":true}}'],
    ['an escaped __proto__ key', '{"__pr\\u006fto__":1}'],
    ['65 levels of nesting', nested(66)],
    ['more than 256 KiB', JSON.stringify({ text: 'x'.repeat(300_000) })],
  ])('%s', async (_what, input) => {
    const { shown, ran, calls } = await callWith(input);
    expect(shown).toBeUndefined();
    expect(ran).toEqual([]);
    expect(calls).toMatchObject([{ status: 'failed' }]);
  });

  test.each([
    ['NaN', z.object({ at: z.string().transform(() => Number.NaN) })],
    ['a function', z.object({ at: z.string().transform(() => () => 1) })],
  ])('%s that a schema made', async (_what, schema) => {
    const { ran, calls } = await callWith('{"at":"2026-11-21"}', schema);
    expect(ran).toEqual([]);
    expect(calls).toMatchObject([{ status: 'failed' }]);
  });
});

describe('what is shown is what runs:', () => {
  test.each([
    ['the last of two equal keys', '{"to":"alice","to":"bob"}', { to: 'bob' }],
    ['zero for minus zero', '{"amount":-0}', { amount: 0 }],
    ['64 levels of nesting', nested(64), JSON.parse(nested(64))],
    ['a key like our own tags', '{"$bytes":"AAAA"}', { $bytes: 'AAAA' }],
    ['letters that only look alike', '{"to":"p\u0430ypal"}', { to: 'p\u0430ypal' }],
  ])('%s', async (_what, input, expected) => {
    const { shown, ran } = await callWith(input);
    expect(shown).toEqual(expected);
    expect(ran).toEqual([expected]);
    expect(Object.is(Reflect.get(Object(ran[0]), 'amount') ?? 0, 0)).toBe(true);
  });

  test("the schema's output: defaults and transforms are in it once, and made again before the start", async () => {
    let transforms = 0;
    const schema = z.object({
      to: z.string().transform((text) => {
        transforms += 1;
        return `${text}!`;
      }),
      currency: z.string().default('EUR'),
    });
    const { shown, ran } = await callWith('{"to":"alice","extra":1}', schema);
    expect(shown).toEqual({ to: 'alice!', currency: 'EUR' });
    expect(ran).toEqual([shown]);
    expect(transforms).toBe(2);
  });
});
