import { expect, test } from 'vitest';
import { boardSchema } from '../../examples/inbox/board.ts';
import { ownerPrefix } from '../../examples/inbox/identity.ts';
import { boardReader } from '../../examples/inbox/read-board.ts';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';

test('the board of the inbox has what a sub-agent asks once, with its own call and the path to it', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [{ calls: [pay('b1', 'Ann')] }, { text: 'Paid.' }]);
  const calls = [ask('b1', 'buy', 'Pay Ann.')];
  const manager = office.agent('manager', [{ calls }, { text: 'Done.' }], {
    tools: { buy: office.tool(buyer) },
    toolApproval: { buy: 'user-approval' },
  });
  const person = { name: 'Ada' };
  const thread = await manager.thread(`${ownerPrefix(person)}1`);
  const first = await manager.run('Pay Ann.', thread, { principal: person.name });
  const second = await manager.run(first.approvalRequests[0]?.approve() ?? [], thread);
  const readBoard = boardReader({ agent: manager, store: office.store });
  const board = async () => boardSchema.parse(JSON.parse(JSON.stringify(await readBoard(person))));

  const asked = (await board()).entries.filter(({ status }) => status === 'waiting');
  expect(asked).toMatchObject([
    {
      request: { toolCall: { toolName: 'pay', input: { to: 'Ann' } }, path: [{ agent: 'buyer' }] },
    },
  ]);
  await manager.run(second.approvalRequests[0]?.approve() ?? [], thread);
  const ended = await board();
  expect(ended.conversations).toMatchObject([{ waiting: 0 }]);
  expect(ended.entries).toHaveLength(2);
  expect(ended.entries.find(({ request }) => request.path !== undefined)).toMatchObject({
    status: 'answered',
    request: { toolCall: { toolName: 'pay' } },
  });
});
