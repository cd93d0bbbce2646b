import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';

const file = join(import.meta.dirname, '..', 'golden', 'sub-agent-v1.json');
const goldenSchema = z.object({ parent: z.unknown(), child: z.unknown() });

test.runIf(process.env['WRITE_GOLDEN'] === '1')('writes the golden threads', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }]);
  const script = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }];
  const manager = office.agent('manager', script, { tools: { buy: office.tool(buyer) } });
  const parent = await manager.thread('golden');
  await manager.run('Go.', parent, { principal: 'ann' });
  const child = await buyer.thread(parent.calls[0]?.agent?.threadId ?? '');
  writeFileSync(file, `${JSON.stringify({ parent, child })}\n`);
});

test('threads of an agent and of one that works for it are read as the first version wrote them', async () => {
  const { parent, child } = goldenSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const office = new AgentOffice(memoryStore());
  const buyer = office.payer('buyer', [{ text: 'Paid.' }]);
  const manager = office.agent('manager', [{ text: 'Done.' }], {
    tools: { buy: office.tool(buyer) },
  });
  await buyer.restore(child);
  const thread = await manager.restore(parent);
  expect(thread.activeApprovalRequests).toMatchObject([
    { path: [{ agent: 'buyer', toolCallId: 'b1', toolName: 'buy' }] },
  ]);
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  expect(await manager.run(answers, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(office.payments).toMatchObject([{ to: 'Ann' }]);
});

const releasedFile = join(import.meta.dirname, '..', 'golden', 'released-v1.json');
const boss = { principal: 'boss' };

test.runIf(process.env['WRITE_GOLDEN'] === '1')(
  'writes the golden threads of a release',
  async () => {
    const office = new AgentOffice();
    const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
    const script = [{ calls: [pay('p2', 'Bob'), ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }];
    const tools = { pay: office.pay, buy: office.tool(buyer) };
    const manager = office.payer('manager', script, { tools });
    const parent = await manager.thread('golden');
    await manager.run('Go.', parent, { principal: 'ann' });
    const answers = parent.activeApprovalRequests.map((request) => request.approve());
    await manager.respond(answers, parent, boss);
    await manager.stop(parent, { principal: 'ann' });
    const child = await buyer.thread(parent.calls[1]?.agent?.threadId ?? '');
    await manager.run([], parent, { ...boss, resumeStopped: true });
    writeFileSync(
      releasedFile,
      `${JSON.stringify({ parent, child: await buyer.thread(child.id) })}\n`,
    );
  },
);

test('what was stopped and released is read as the first version wrote it, above and below', async () => {
  const { parent, child } = goldenSchema.parse(JSON.parse(readFileSync(releasedFile, 'utf8')));
  const office = new AgentOffice();
  const buyer = office.payer('buyer', []);
  const tools = { pay: office.pay, buy: office.tool(buyer) };
  const manager = office.payer('manager', [], { tools });
  const below = await buyer.restore(child);
  const above = await manager.restore(parent);
  expect(above).toMatchObject({
    status: 'idle',
    decisions: [{ status: 'approved' }, { status: 'approved' }],
  });
  for (const { events } of [above, below]) {
    const types = events.map(({ type }) => type);
    expect(types.indexOf('approvals-released')).toBeGreaterThan(types.indexOf('request-answered'));
    expect(events).toContainEqual(expect.objectContaining({ type: 'run-ended', stopped: true }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'approvals-released', principal: 'boss', person: 'boss' }),
    );
  }
  expect(office.payments).toEqual([]);
});
