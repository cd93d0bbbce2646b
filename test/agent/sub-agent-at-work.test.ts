import { tool } from 'ai';
import type { Agent } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { whichClass } from '../support/which-class.ts';
import { waitFor } from '../support/waiting.ts';

function gate(): { open: () => void; opened: Promise<void> } {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return { open, opened };
}

/** A buyer that pays after an approval, and works on something else meanwhile. */
function busyBuyer(office: AgentOffice, opened: Promise<void>): Agent {
  const slow = tool({
    inputSchema: z.object({}),
    execute: async () => opened.then(() => 'slow is done'),
  });
  const calls = [{ id: 's1', name: 'slow', input: {} }, pay('p1', 'Ann')];
  return office.agent('buyer', [{ calls }, { text: 'Both.' }], {
    tools: { slow, pay: office.pay },
    toolApproval: { pay: 'user-approval' },
  });
}

function managerOf(office: AgentOffice, buyer: Agent): Agent {
  const script = [{ calls: [ask('b1', 'buy', 'Buy.')] }, { text: 'Done.' }];
  return office.agent('manager', script, { tools: { buy: office.tool(buyer) } });
}

test('a request is asked while another call of its agent runs, and the answer reaches the agent at work', async () => {
  const office = new AgentOffice();
  const { open, opened } = gate();
  const manager = managerOf(office, busyBuyer(office, opened));
  const thread = await manager.thread('t');
  const running = manager.run('Go.', thread);
  await waitFor(() => expect(thread.activeApprovalRequests).toHaveLength(1));
  expect(thread.calls).toMatchObject([{ status: 'started' }]);
  const [request] = thread.activeApprovalRequests;
  expect(request).toMatchObject({ path: [{ agent: 'buyer' }], toolCall: { toolName: 'pay' } });
  await manager.respond(request?.approve() ?? [], await manager.thread('t'));
  await waitFor(() => expect(office.payments).toHaveLength(1));
  expect(thread.calls).toMatchObject([{ status: 'started' }]);
  open();
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(office.payments).toHaveLength(1);
});

test('three levels: a request is asked at the top while the innermost agent works', async () => {
  const office = new AgentOffice();
  const { open, opened } = gate();
  const middle = office.agent(
    'middle',
    [{ calls: [ask('m1', 'buy', 'Buy.')] }, { text: 'Bought.' }],
    { tools: { buy: office.tool(busyBuyer(office, opened)) } },
  );
  const manager = managerOf(office, middle);
  const thread = await manager.thread('t');
  const running = manager.run('Go.', thread);
  await waitFor(() => expect(thread.activeApprovalRequests).toHaveLength(1));
  const [request] = thread.activeApprovalRequests;
  expect(request?.path?.map(({ agent }) => agent)).toEqual(['middle', 'buyer']);
  await manager.respond(request?.approve() ?? [], await manager.thread('t'));
  await waitFor(() => expect(office.payments).toHaveLength(1));
  open();
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
});

test('a tool that waits in `execute` for the answer to its question is answered at the top', async () => {
  const office = new AgentOffice();
  const answered = Promise.withResolvers<string>();
  const book = tool({
    inputSchema: z.object({}),
    execute: async (_input, options) => {
      const inner = await buyer.thread(String(Reflect.get(options, 'threadId')));
      await buyer.requestAnswer(inner, options.toolCallId, whichClass);
      return answered.promise;
    },
  });
  const deliver = async ({ response }: { response: object }) =>
    answered.resolve(JSON.stringify(response));
  Reflect.set(book, Symbol.for('holdpoint.answering'), { deliver });
  const buyer: Agent = office.agent(
    'buyer',
    [{ calls: [{ id: 'k1', name: 'book', input: {} }] }, { text: 'Booked.' }],
    { tools: { book } },
  );
  const manager = managerOf(office, buyer);
  const thread = await manager.thread('t');
  const running = manager.run('Go.', thread);
  await waitFor(() => expect(thread.activeRequests).toHaveLength(1));
  const [question] = thread.activeRequests;
  expect(question).toMatchObject({ text: 'Which class?', path: [{ agent: 'buyer' }] });
  const requestId = question?.requestId ?? '';
  const answers = [{ key: 'class', optionIds: ['second'] }];
  const answer = {
    type: 'question-response' as const,
    status: 'answered' as const,
    requestId,
    answers,
  };
  await manager.respond(answer, await manager.thread('t'));
  expect(await running).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(await answered.promise).toContain('second');
});
