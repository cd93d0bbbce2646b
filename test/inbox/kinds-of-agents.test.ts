import { expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { newsroom } from '../support/newsroom.ts';
import { inboxOf, only } from './inbox-site.ts';

test('the inbox lists what the steps of a custom agent ask, and how it was answered', async () => {
  const agent = newsroom();
  const inbox = inboxOf(agent);
  await agent.run('Announce it.', await agent.thread('t'), { principal: 'ann' });
  const asked = only((await inbox.list('ann')).entries);
  expect(asked).toMatchObject({ kind: 'question', request: { key: 'tone', text: 'Which tone?' } });

  const answers = [{ key: 'answer', optionIds: ['Formal'] }];
  const { requestId } = asked;
  const answer = { type: 'question-response', requestId, status: 'answered', answers };
  const outcomes = await inbox.answer('ann', [{ entry: asked, answer }]);
  expect(outcomes).toMatchObject([{ status: 'recorded' }]);
  await agent.run([], await agent.thread('t'));

  expect((await inbox.list('ann')).entries).toMatchObject([{ request: { key: 'publish' } }]);
  expect((await inbox.list('ann', 'list=decided')).entries).toMatchObject([
    { state: 'answered', decidedBy: 'ann', request: { key: 'tone' } },
  ]);
});

test('the inbox has what a sub-agent asks once, with its own call and the path to it', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [{ calls: [pay('b1', 'Ann')] }, { text: 'Paid.' }]);
  const calls = [ask('b1', 'buy', 'Pay Ann.')];
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], {
    tools: { buy: office.tool(buyer) },
    toolApproval: { buy: 'user-approval' },
  });
  const inbox = inboxOf(manager);
  const thread = await manager.thread('t');
  const first = await manager.run('Pay Ann.', thread, { principal: 'ada' });
  const second = await manager.run(first.approvalRequests[0]?.approve() ?? [], thread);
  expect(only((await inbox.list('ada')).entries).request).toMatchObject({
    toolCall: { toolName: 'pay', input: { to: 'Ann' } },
    path: [{ agent: 'buyer' }],
  });

  await manager.run(second.approvalRequests[0]?.approve() ?? [], thread);
  expect((await inbox.list('ada')).entries).toEqual([]);
  const { entries } = await inbox.list('ada', 'list=decided');
  expect(entries.map(({ toolName }) => toolName)).toEqual(['pay', 'buy']);
});
