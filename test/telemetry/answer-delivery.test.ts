import { traceHoldpoint } from 'holdpoint/otel';
import { expect, test } from 'vitest';
import { pick, RemoteWorld } from '../rap/remote-world.ts';
import { status } from '../rap/tool-server.ts';
import { exporting } from './exported.ts';
import { listen, ofType } from './listen.ts';
import { spanOf } from './traces.ts';

test('the delivery of an answer to the tool that asked is traced, and linked to the answer', async () => {
  using heard = listen();
  const { tracer, spans } = exporting();
  const stop = traceHoldpoint({ tracer });
  await using world = await RemoteWorld.start();
  const { agent, thread } = await world.asked();
  await agent.run(pick(thread, 1), thread);
  stop();
  expect(ofType(heard, 'delivered')).toMatchObject([
    {
      threadId: 't',
      toolCallId: 'call_abc123',
      toolName: 'write',
      request: { type: 'question-request' },
    },
  ]);
  expect(heard.moments.filter((moment) => moment.endsWith('delivered'))).toEqual([
    'start delivered',
    'asyncEnd delivered',
  ]);
  const asked = spanOf(spans(), 'question_request write');
  const answered = spanOf(spans(), 'question_answer write');
  const delivered = spanOf(spans(), 'answer_delivery write');
  expect(answered.links).toMatchObject([{ spanId: asked.spanId }]);
  expect(delivered.links).toMatchObject([{ spanId: answered.spanId }]);
  expect(JSON.stringify(spans())).not.toMatch(/Allow|Yes once|user_choice/);
});

test('if the tool rejects it, the delivery is traced as an error', async () => {
  using heard = listen();
  await using world = await RemoteWorld.start();
  world.server.answerBehaviours.push(status(404));
  const { agent, thread } = await world.asked();
  await agent.run(pick(thread, 1), thread);
  expect(heard.moments).toContain('error delivered');
});
