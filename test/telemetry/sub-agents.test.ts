import { createNoopMeter, type Meter } from '@opentelemetry/api';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { exporting } from './exported.ts';
import { traces } from './traces.ts';
import { traced, tracingTests } from './tracing.ts';

tracingTests();

/** A manager whose buyer pays. */
function manager() {
  const office = new AgentOffice(memoryStore());
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
  return office.agent('manager', [{ calls: [ask('b1', 'buy', 'Go.')] }, { text: 'Done.' }], {
    tools: { buy: office.tool(buyer) },
  });
}

test('the run of a sub-agent is in the span of the call that it works on', async () => {
  const { spans } = traced();
  const agent = manager();
  const { approvalRequests, thread } = await agent.run('Pay.', await agent.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  await agent.run(answers, thread);
  expect(traces(spans())).toEqual([
    [
      'invoke_agent manager',
      '  chat scripted',
      '  execute_tool buy',
      '    invoke_agent buyer',
      '      chat scripted',
      '      approval_request pay',
      '        approval_wait pay',
      '  approval_request pay',
      '    approval_wait pay',
    ],
    [
      'invoke_agent manager',
      '  approval_decision pay',
      '  approval_decision pay',
      '  execute_tool buy',
      '    invoke_agent buyer',
      '      execute_tool pay',
      '      chat scripted',
      '  chat scripted',
    ],
  ]);
});

test('what it asks has a span in its own thread, and one with the path in the thread where people answer', async () => {
  const { spans } = traced();
  const agent = manager();
  const { approvalRequests, thread } = await agent.run('Pay.', await agent.thread('t'));
  await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  const childId = thread.calls[0]?.agent?.threadId;
  for (const name of ['approval_request pay', 'approval_decision pay', 'approval_wait pay']) {
    const places = spans()
      .filter((span) => span.name === name)
      .map(({ attributes }) => [
        attributes['gen_ai.conversation.id'],
        attributes['holdpoint.path'],
      ]);
    expect(places).toHaveLength(2);
    expect(places).toContainEqual([childId, undefined]);
    expect(places).toContainEqual(['t', 'buyer']);
  }
});

test('the time to its decision is measured once', async () => {
  const { tracer } = exporting();
  const recorded: unknown[] = [];
  const meter: Meter = createNoopMeter();
  meter.createHistogram = () => ({
    record: (_value, attributes) => void recorded.push(attributes),
  });
  traced({ tracer, meter });
  const agent = manager();
  const { approvalRequests, thread } = await agent.run('Pay.', await agent.thread('t'));
  await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(recorded).toEqual([{ 'holdpoint.decision': 'approved', 'gen_ai.tool.name': 'pay' }]);
});
