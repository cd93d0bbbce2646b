import { createCustomAgent } from 'holdpoint/custom-agent';
import { expect, test } from 'vitest';
import { newsroom } from '../support/newsroom.ts';
import { spanOf, traces } from './traces.ts';
import { traced, tracingTests } from './tracing.ts';

tracingTests();

test('a step of a custom agent is a span with the agent’s name, and no model is named', async () => {
  const { spans } = traced();
  const agent = newsroom();
  await agent.run('Go', await agent.thread('t'));
  expect(traces(spans())).toEqual([
    ['invoke_agent publisher', '  custom_step publisher', '  question_request'],
  ]);
  const step = spanOf(spans(), 'custom_step publisher');
  expect(step.attributes).toEqual({
    'gen_ai.agent.name': 'publisher',
    'gen_ai.conversation.id': 't',
    'holdpoint.step': 0,
  });
  expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toContain('model');
});

test('a step that fails has the type of its error, and not its text', async () => {
  const { spans } = traced();
  const agent = createCustomAgent({
    step: () => {
      throw new RangeError('secret');
    },
  });
  await expect(agent.run('Go', await agent.thread('t'))).rejects.toThrow('secret');
  const step = spanOf(spans(), 'custom_step');
  expect(step.attributes).toMatchObject({ 'error.type': 'RangeError' });
  expect(JSON.stringify(spans())).not.toContain('secret');
});
