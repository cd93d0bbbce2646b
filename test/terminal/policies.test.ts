import { type AgentResponse, approve, createAgent, groupRequests, reject } from 'holdpoint';
import { askInTerminal } from 'holdpoint/terminal';
import { describe, expect, test, vi } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools } from '../support/travel-world.ts';
import { approval } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

/** Goes to an entry and picks it, once it is on the screen. */
async function pick(terminal: VirtualTerminal, label: string): Promise<void> {
  await terminal.shows(label);
  for (let tries = 0; tries < 12 && !terminal.visible.includes(`❯ ${label}`); tries += 1) {
    await terminal.types(keys.down);
  }
  await terminal.types(keys.enter);
}

const now = (): number => Date.parse('2026-11-23T08:00:00Z');

test('what a request demands, who has approved it and what was edited is on the screen before any key decides', async () => {
  const terminal = new VirtualTerminal({ rows: 60 });
  const request = approval({
    risk: 'high',
    approvers: ['owners\u202E'],
    notRequester: true,
    quorum: 2,
    requireReason: true,
    editable: ['price'],
    expiresAt: Date.parse('2026-11-23T10:00:00Z'),
    onExpiry: { type: 'escalate', approvers: ['managers'], quorum: 1 },
    metadata: { ticket: 7 },
    votes: [{ person: 'ben', at: 1, onBehalfOf: 'ada' }],
    reassignments: [{ from: 'ada', to: 'ben' }],
    toolCall: {
      toolCallId: 'call-1',
      toolName: 'bookFlight',
      input: { flight: 'AF1234', price: 9 },
    },
    edit: {
      original: { input: { flight: 'AF1234', price: 420 }, text: 'Buy it for 420?', digest: 'x' },
      patches: [{ op: 'replace', path: ['price'], value: 9 }],
      person: 'ben',
      at: 1,
    },
  });
  const { input, output } = terminal;
  const asking = askInTerminal(request, { input, output, now, timeZone: 'UTC' });
  await terminal.ends('Reject with a reason');
  for (const line of [
    'Risk: high',
    'May be answered by: owners\\u{202e}, but not the person for whom the agent asks',
    'Approvals: 1 of 2',
    'Approved by: ben (for ada), ',
    'Reassigned: ada asked ben to answer instead',
    'Reason: needed to approve',
    'May be edited: price',
    'Until: Mon 23 Nov, 10:00 UTC (in 2 h), then it goes to managers (1 approval)',
    'Metadata: {"ticket":7}',
    'Edited by: ben, ',
    'Changed: price: 420 → 9',
    'Asked before the edit: Buy it for 420?',
    'price: 9',
  ]) {
    expect(terminal.screen).toContain(line);
  }
  await terminal.types(keys.enter);
  expect(await asking).toEqual([reject(request)]);
});

/** A terminal at which a person sits, and the options that say so. */
function at(person: string) {
  const terminal = new VirtualTerminal();
  const { input, output } = terminal;
  return { terminal, options: { input, output, person } };
}

describe('a request that needs several people', () => {
  test('is asked of each of them once', async () => {
    const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const agent = createAgent({
      model,
      tools: travelTools([]),
      toolApproval: { book: { type: 'user-approval', quorum: 2 } },
      mayAnswer: () => true,
    });
    const thread = await agent.thread();
    const answersOf = async (person: string, { userInputRequests }: AgentResponse) => {
      const { terminal, options } = at(person);
      const asking = askInTerminal(userInputRequests, options);
      await pick(terminal, 'Approve');
      return asking;
    };
    let response = await agent.run('Book', thread);
    response = await agent.run(await answersOf('ann', response), thread, { principal: 'ann' });
    expect(await askInTerminal(response.userInputRequests, at('ann').options)).toEqual([]);
    response = await agent.run(await answersOf('ben', response), thread, { principal: 'ben' });
    expect(response).toMatchObject({ status: 'completed', text: 'Booked.' });
  });

  test('is not asked of the person for whom somebody else has approved it', async () => {
    const request = approval({ quorum: 2, votes: [{ person: 'ben', onBehalfOf: 'ada', at: 1 }] });
    expect(await askInTerminal(request, at('ada').options)).toEqual([]);
  });

  test('is not asked of a person whose name is spelled in another way', async () => {
    const request = approval({ quorum: 2, votes: [{ person: 'ada@x', at: 1 }] });
    expect(await askInTerminal(request, at('Ada@X ').options)).toEqual([]);
  });
});

describe('an edit', () => {
  const request = approval({ editable: ['price'] });

  test('is shown before and after, and only then approved', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(request, terminal);
    await pick(terminal, 'Edit, then approve');
    await pick(terminal, 'Change price');
    await terminal.shows('▏');
    await terminal.types(keys.backspace, keys.backspace, keys.backspace, '9', keys.enter);
    await terminal.shows('Before:');
    expect(terminal.visible).toContain('price: 9');
    expect(terminal.visible).toContain('price: 420');
    await pick(terminal, 'Approve as changed');
    expect(await asking).toEqual([approve(request, { input: { flight: 'AF1234', price: 9 } })]);
  });

  test('that is not JSON changes nothing, and Esc goes back to the request', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(request, terminal);
    await pick(terminal, 'Edit, then approve');
    await pick(terminal, 'Change price');
    await terminal.shows('▏');
    await terminal.types('x', keys.enter);
    await terminal.shows('price was not changed: that is not JSON');
    await terminal.ends('❯ Change price');
    expect(terminal.visible).not.toContain('Approve as changed');
    await terminal.types(keys.escape);
    await terminal.shows('May I book this flight?');
    await pick(terminal, 'Approve');
    expect(await asking).toEqual([approve(request)]);
  });
});

test('later calls are approved too, no wider than the rule allows, the narrowest choice first', async () => {
  const request = approval({
    remember: { scope: 'principal', match: ['flight'], uses: 3 },
    requesters: ['ada'],
  });
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(request, terminal);
  await pick(terminal, 'Approve, and later calls too');
  await terminal.shows('Approve every bookFlight in this conversation, with this input, 3 times');
  expect(terminal.visible).toContain('for "ada", with flight "AF1234", 3 times');
  expect(terminal.visible).not.toContain('for everyone');
  await terminal.types(keys.enter);
  const remember = { scope: 'thread', match: 'exact', uses: 3 } as const;
  expect(await asking).toEqual([approve(request, { remember })]);
});

test('where two people must approve, Ada’s vote may cover later calls, and Eve alone is not offered to reject those', async () => {
  const request = approval({ remember: { scope: 'thread', match: 'exact' }, quorum: 2 });
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(request, terminal);
  await pick(terminal, 'Approve, and later calls too');
  await terminal.shows('Approve every bookFlight in this conversation, with this input');
  expect(terminal.output.written).toContain('Reject with a reason');
  expect(terminal.output.written).not.toContain('Reject, and later calls too');
  await terminal.types(keys.enter);
  const remember = { scope: 'thread', match: 'exact' } as const;
  expect(await asking).toEqual([approve(request, { remember })]);
});

test('a reason that is demanded is asked for, and one that was not given approves nothing', async () => {
  const request = approval({ requireReason: true });
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(request, terminal);
  await pick(terminal, 'Approve with a reason');
  await terminal.shows('Reason for the approval:');
  await terminal.types(keys.enter, 'It is due.', keys.enter);
  expect(await asking).toEqual([approve(request, { reason: 'It is due.' })]);
});

const small = (id: string, price: number) =>
  approval({
    requestId: id,
    risk: 'low',
    toolCall: { toolCallId: id, toolName: 'bookFlight', input: { price } },
  });

describe('several requests', () => {
  const drop = approval({
    requestId: 'drop',
    risk: 'critical',
    createdAt: 9,
    toolCall: { toolCallId: 'd', toolName: 'dropTable', input: { table: 'users' } },
  });

  test('come in the order of their risk, and similar ones can be answered together once all are shown', async () => {
    const terminal = new VirtualTerminal();
    const requests = [small('a', 1), small('b', 2), drop, small('c', 3)];
    const asking = askInTerminal(requests, terminal);
    await terminal.shows('dropTable');
    await terminal.types(keys.enter);
    await pick(terminal, 'See all 3 similar requests');
    await terminal.shows('3 similar requests');
    for (const line of ['1.  1', '2.  2', '3.  3']) expect(terminal.screen).toContain(line);
    await pick(terminal, 'Approve all 3');
    const approved = ['a', 'b', 'c'].map((id, index) => approve(small(id, index + 1)));
    expect(await asking).toEqual([reject(drop), ...approved]);
  });

  test('that are similar show who asked for each, why, and who has approved it, before one key approves all', async () => {
    const terminal = new VirtualTerminal({ rows: 60 });
    const [ours, theirs] = [
      { ...small('a', 1), requesters: ['ada'], quorum: 2 },
      {
        ...small('b', 2),
        requesters: ['eve'],
        quorum: 2,
        reason: 'A new payee.',
        follows: 'z',
        votes: [{ person: 'mallory', at: 1 }],
      },
    ];
    const asking = askInTerminal([ours, theirs], terminal);
    await pick(terminal, 'See all 2 similar requests');
    await terminal.shows('2 similar requests');
    for (const line of [
      'Asked for by: ada',
      'Asked for by: eve',
      'Why: A new payee.',
      'Approvals: 0 of 2',
      'Approvals: 1 of 2',
      'Approved by: mallory, ',
      'Asked again',
    ])
      expect(terminal.screen).toContain(line);
    await terminal.types(keys.enter);
    expect(await asking).toEqual([reject(ours), reject(theirs)]);
  });

  test('are in groups by tool and terms, the riskiest first, then the oldest', () => {
    const other = { ...small('e', 5), approvers: ['owners'] };
    const groups = groupRequests([small('a', 1), other, drop, small('b', 2)]);
    expect(groups.map(({ requests }) => requests.map(({ requestId }) => requestId))).toEqual([
      ['drop'],
      ['a', 'b'],
      ['e'],
    ]);
  });
});

test("a rule whose object is invalid denies Eve's call: the terminal asks nobody, and the console names the setting", async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }]);
  const ran: Parameters<typeof travelTools>[0] = [];
  const agent = createAgent({
    model,
    tools: travelTools(ran),
    toolApproval: { book: () => ({ type: 'user-approval', quorum: 0 }) },
  });
  const settings: string[] = [];
  agent.on('setting-failed', ({ setting }) => settings.push(setting));
  const response = await agent.run('Book', await agent.thread(), { principal: 'eve' });
  const { terminal, options } = at('ada');
  expect(await askInTerminal(response.userInputRequests, options)).toEqual([]);
  expect(terminal.output.written).toBe('');
  expect(response).toMatchObject({ status: 'completed', text: 'Not booked.' });
  expect(ran).toEqual([]);
  expect(settings).toEqual(['toolApproval.book']);
  expect(String(warn.mock.calls)).toMatch(/toolApproval\.book.*quorum/s);
  warn.mockRestore();
});
