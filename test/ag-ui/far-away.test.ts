import { tool, type ToolSet } from 'ai';
import { later, type Question } from 'holdpoint';
import { expect, test } from 'vitest';
import { cityInput, look, travelTools } from '../support/travel-world.ts';
import { client, endOf, ofType, served, site, typesOf } from './ag-ui-site.ts';

const options = ['Window', 'Aisle'].map((label, index) => ({ id: String(index), label }));
const seat: Question = {
  kind: 'choice',
  text: 'Which seat?',
  fields: [{ key: 'choice', label: 'Which seat?', options, min: 1, max: 1, freeText: 'never' }],
  allowDismiss: true,
};
const replyTo = { url: 'https://tools.example/SECRET' };

/** A client whose model has called a tool far away, which asks a person. */
async function asking() {
  const told: unknown[] = [];
  const far: ToolSet[string] = tool({ inputSchema: cityInput, execute: async () => later });
  const answering = { deliver: async ({ response }: { response: unknown }) => told.push(response) };
  const tools = { look: Object.assign(far, { [Symbol.for('holdpoint.answering')]: answering }) };
  const at = site([{ calls: [look('c1', 'Oslo')] }, { text: 'Seated.' }], {
    tools: { ...travelTools([]), ...tools },
  });
  const visitor = client(await served(at.handler));
  const called = await visitor.say('Seat me');
  expect(endOf(called)).toEqual({ type: 'success', pendingToolCallIds: ['c1'] });
  const thread = await at.agent.thread('t');
  await at.agent.requestAnswer(thread, 'c1', seat, { replyTo });
  const events = await visitor.run();
  return { ...visitor, server: at.agent, played: at.played, thread, told, events };
}

test('a question of a tool far away is an interrupt, which says nothing of how the tool is reached', async () => {
  const at = await asking();
  expect(endOf(at.events)).toMatchObject({
    interrupts: [{ reason: 'input_required', message: 'Which seat?', toolCallId: 'c1' }],
  });
  expect(at.agent.pendingInterrupts[0]?.responseSchema).toMatchObject({
    properties: { selectedOptionId: { oneOf: [{ const: '0' }, { const: '1', title: 'Aisle' }] } },
  });
  expect(JSON.stringify(at.events)).not.toContain('SECRET');
});

test('its answer is brought to the tool, whose call goes on; the result comes in a later run', async () => {
  const at = await asking();
  const answered = await at.answer({ selectedOptionId: '1' });
  expect(endOf(answered)).toEqual({ type: 'success', pendingToolCallIds: ['c1'] });
  expect(ofType(answered, 'TOOL_CALL_RESULT')).toEqual([]);
  expect(at.told).toMatchObject([{ answers: [{ key: 'choice', optionIds: ['1'] }] }]);
  await at.server.deliver(at.thread, 'c1', { status: 'succeeded', output: '12A' });
  const events = await at.run();
  expect(typesOf(events)).not.toContain('TOOL_CALL_START');
  expect(endOf(events)).toEqual({ type: 'success' });
  expect(at.agent.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'tool', toolCallId: 'c1', content: '12A' },
    { role: 'assistant', content: 'Seated.' },
  ]);
  expect(at.played.requests).toBe(2);
});

test('it may be left: the tool is told so, and nothing is picked', async () => {
  const at = await asking();
  expect(endOf(await at.answer(undefined))).toMatchObject({ pendingToolCallIds: ['c1'] });
  expect(at.told).toMatchObject([{ status: 'dismissed' }]);
});

test('an answer to a question that the tool has replaced is refused; the new one is asked', async () => {
  const at = await asking();
  await at.server.requestAnswer(at.thread, 'c1', { ...seat, text: 'Which row?' }, { replyTo });
  expect(endOf(await at.answer({ selectedOptionId: '1' }))).toBe('request-closed');
  expect(at.told).toEqual([]);
  const events = await at.answer(undefined);
  expect(endOf(events)).toMatchObject({ interrupts: [{ message: 'Which row?' }] });
  await at.answer({ selectedOptionId: '0' });
  expect(at.told).toMatchObject([{ answers: [{ optionIds: ['0'] }] }]);
});
