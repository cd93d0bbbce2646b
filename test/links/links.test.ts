import type { UserApproval } from 'holdpoint';
import { createLinks } from 'holdpoint/links';
import { questionTool } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { asked, openDesk, secretKey, url, Visitor } from './link-desk.ts';

test('somebody without a page opens a link twice and approves; the second answer is told who was first, and the call runs once', async () => {
  const { invite, answers, work, paid } = await openDesk();
  const ada = await invite('ada@example.com');
  for (let times = 0; times < 2; times += 1) {
    const page = await ada.send();
    expect(page.status).toBe(200);
    expect(page.text).toContain('Pay 500 EUR to ACME?');
    expect(page.text).toContain('to "ACME" euros 500');
    expect(page.text).toContain('For ada@example.com . Whoever has this link can answer');
    expect(page.text).toContain('Asked for by: zoe');
    expect(page.buttons).toEqual(['approve', 'reject']);
  }
  expect(await answers()).toEqual([]);

  const told = await ada.press('approve');
  expect(told.status).toBe(200);
  expect(told.text).toContain('Your answer is recorded. By ada@example.com. Thu 26 Nov, 12:00 UTC');
  const again = await ada.post({ action: 'reject', code: 'any' });
  expect(again.status).toBe(409);
  expect(again.text).toContain('Approved It was over before: nothing was recorded now. By ada@');
  expect((await ada.send()).text).toContain('There is nothing left to answer. By ada@');

  expect(paid).toEqual([]);
  await work();
  await work();
  expect(paid).toEqual([asked]);
  expect(await answers()).toEqual([{ said: 'yes', principal: 'ada@example.com', channel: 'link' }]);
});

test('a rejection has a reason if the person gives one, and nothing runs', async () => {
  const { invite, answers, work, paid } = await openDesk();
  const ada = await invite('ada');
  const told = await ada.press('reject', { reason: ' Too much.\r\nAsk again. ' });
  expect(told.text).toContain('Rejected Your answer is recorded. By ada.');
  await work();
  expect(paid).toEqual([]);
  expect(await answers()).toEqual([
    { said: 'no: Too much.\nAsk again.', principal: 'ada', channel: 'link' },
  ]);
});

test('an approval that needs a reason is asked for one, and keeps what was typed elsewhere', async () => {
  const { invite, answers } = await openDesk({ rule: { requireReason: true } });
  const ada = await invite('ada');
  const told = await ada.press('approve', { reason: '  ' });
  expect(told.status).toBe(400);
  expect(told.text).toContain('Give a reason to approve this.');
  expect(told.markup).toContain('aria-invalid="true" aria-describedby="fault"');
  expect(await answers()).toEqual([]);
  await ada.press('approve', { reason: 'Budgeted.' });
  expect(await answers()).toMatchObject([{ said: 'yes: Budgeted.' }]);
});

test('what has the highest risk is asked about twice, the second time with a box to tick', async () => {
  const { invite, answers } = await openDesk({ rule: { risk: 'critical', requireReason: true } });
  const ada = await invite('ada');
  expect((await ada.press('approve')).status).toBe(400);
  const { status, hidden, buttons, text, markup } = await ada.press('approve', {
    reason: '"Budgeted"',
  });
  expect([status, buttons]).toEqual([200, ['confirm']]);
  expect(text).toContain('to "ACME" euros 500');
  expect(markup).toContain('>&#34;Budgeted&#34;</textarea>');
  const first = await ada.send();
  /* The second step can't be skipped: it has a code of its own. */
  const sent = { reason: '"Budgeted"', action: 'confirm', read: 'yes' };
  const skipped = { ...first.hidden, ...sent };
  expect((await ada.post(skipped)).status).toBe(403);
  const unread = await ada.post({ ...hidden, ...sent, read: '' });
  expect([unread.status, unread.buttons]).toEqual([400, ['confirm']]);
  expect(unread.text).toContain('Say that you have read all of it.');
  expect(await answers()).toEqual([]);
  const told = await ada.post({ ...unread.hidden, ...sent });
  expect(told.text).toContain('Your answer is recorded.');
  expect(await answers()).toMatchObject([{ said: 'yes: "Budgeted"' }]);
});

test('two people approve by two links; each link is spent by its own vote', async () => {
  const { invite, answers, work, paid } = await openDesk({ rule: { quorum: 2 } });
  const [ada, ben] = [await invite('ada'), await invite('ben')];
  const told = await ada.press('approve', { reason: 'Fine.' });
  expect(told.text).toContain('Your approval is recorded 1 of 2 approvals, waits for another');
  const opened = await ada.send();
  expect([opened.status, opened.buttons]).toEqual([200, []]);
  expect(opened.text).toContain('You have approved this 1 of 2 approvals');
  expect((await ada.post({ action: 'reject', code: 'x' })).status).toBe(409);
  await work();
  expect(paid).toEqual([]);

  expect((await ben.send()).text).toMatch(/Approvals: 1 of 2 Approved by: ada, .+: Fine\./);
  expect((await ben.press('approve')).text).toContain(
    'Approved Your answer is recorded. By ada, ben.',
  );
  await work();
  expect(paid).toEqual([asked]);
  expect((await answers()).map(({ said }) => said)).toEqual(['yes: Fine.', 'yes']);
});

test.each([
  ['approve', 'reject'],
  ['reject', 'approve'],
] as const)(
  'a link of a quorum counts once, also if its form is sent from two processes at one moment: %s, %s',
  async (first, second) => {
    let overtakes: (() => Promise<unknown>) | undefined;
    const { invite, answers, work, paid } = await openDesk({
      rule: { quorum: 2 },
      mayAnswer: async ({ response }) => {
        const isLate = 'reason' in response && response.reason === 'Late.';
        if (isLate) await overtakes?.();
        return true;
      },
    });
    const ada = await invite('ada');
    const { hidden } = await ada.send();
    const code = hidden['code'] ?? '';
    let faster: number | undefined;
    overtakes = async () => {
      overtakes = undefined;
      faster = (await ada.post({ action: first, code })).status;
    };
    const late = await ada.post({ action: second, code, reason: 'Late.' });
    expect([faster, late.status]).toEqual([200, 409]);
    expect((await answers()).map(({ said }) => said)).toEqual([first === 'approve' ? 'yes' : 'no']);
    await work();
    expect(paid).toEqual([]);
  },
);

test('of two people who give the same answer at one moment the second is told that the first was faster', async () => {
  let overtakes: (() => Promise<unknown>) | undefined;
  const { invite, answers } = await openDesk({
    mayAnswer: async ({ principal, response }) => {
      const isBen = principal === 'ben' && 'reason' in response && response.reason === 'Fine.';
      if (isBen) await overtakes?.();
      return true;
    },
  });
  const [ada, ben] = [await invite('ada'), await invite('ben')];
  overtakes = async () => ada.press('approve', { reason: 'Fine.' });
  const told = await ben.press('approve', { reason: 'Fine.' });
  expect(told.status).toBe(409);
  expect(told.text).toContain('Approved Somebody else was faster. By ada.');
  expect(await answers()).toMatchObject([{ principal: 'ada' }]);
});

test('a link is of what was shown: after an edit it answers nothing, and a new one does', async () => {
  const { agent, thread, request, invite, answers, work, paid } = await openDesk({
    rule: { quorum: 2, editable: ['euros'] },
  });
  const ben = await invite('ben');
  const page = await ben.send();
  expect(page.text).toContain('It can’t be edited here: do that where you sign in.');
  if (request.type !== 'approval-request') throw new Error('It is an approval.');
  const edited = request.approve({ input: { to: 'ACME', euros: 5 } });
  await agent.respond(edited, thread, { principal: 'ada', channel: 'inbox' });

  for (const told of [await ben.send(), await ben.post({ ...page.hidden, action: 'approve' })]) {
    expect(told.status).toBe(409);
    expect(told.text).toContain('This has changed');
    expect(told.text).toContain('Ask for a new link.');
    expect(told.text).not.toContain('euros');
  }
  expect(await answers()).toHaveLength(1);
  const again = await invite('ben', thread.activeRequests[0]);
  expect((await again.send()).text).toMatch(/Edited by: ada, .+ Changed: euros: 500 → 5/);
  await again.press('approve');
  await work();
  expect(paid).toEqual([{ to: 'ACME', euros: 5 }]);
});

test('an approval of an edit that its author takes back at that moment does not count, and the person is told', async () => {
  let overtakes: (() => Promise<unknown>) | undefined;
  const { agent, thread, request, invite, answers } = await openDesk({
    rule: { quorum: 2, editable: ['euros'] },
    mayAnswer: async ({ principal, response }) => {
      if (principal === 'ben' && 'reason' in response && response.reason === 'Fine.')
        await overtakes?.();
      return true;
    },
  });
  if (request.type !== 'approval-request') throw new Error('It is an approval.');
  const edited = request.approve({ input: { to: 'ACME', euros: 5 } });
  await agent.respond(edited, thread, { principal: 'ada', channel: 'inbox' });
  const ben = await invite('ben', thread.activeRequests[0]);
  overtakes = async () => {
    overtakes = undefined;
    await agent.withdraw(thread, request.requestId, { principal: 'ada' });
  };
  const told = await ben.press('approve', { reason: 'Fine.' });
  expect(told.status).toBe(409);
  expect(told.text).toContain('This has changed');
  expect((await answers()).map(({ principal }) => principal)).toEqual(['ada']);
});

test('a question is answered with options and text, and what does not fit is said at its field', async () => {
  const questions = [
    {
      header: 'Class',
      question: 'Which class?',
      options: [
        { label: 'Second', description: 'Quiet.' },
        { label: 'First', description: 'With lunch.' },
      ],
    },
    {
      header: 'Extras',
      question: 'Which extras?',
      multiSelect: true,
      options: [
        { label: 'Seat', description: 'Extra.' },
        { label: 'Bike', description: 'Extra.' },
        { label: 'Wifi', description: 'Extra.' },
      ],
    },
  ];
  const { invite, answers } = await openDesk({
    calls: [{ id: 'q1', name: 'AskUserQuestion', input: { questions } }],
  });
  const ada = await invite('ada');
  const { text, markup, hidden } = await ada.send();
  expect(text).toContain('Which class?');
  expect(markup).toContain('type="radio" name="option.0" value="1"');
  expect(markup).toContain('type="checkbox" name="option.1" value="2"');
  expect(markup).not.toContain(' checked');
  const code = hidden['code'] ?? '';
  const lacking = await ada.post([
    ['code', code],
    ['action', 'answer'],
    ['option.0', '1'],
    ['text.0', ''],
    ['text.1', ''],
  ]);
  expect(lacking.status).toBe(400);
  expect(lacking.text).toContain('needs at least 1 option(s)');
  expect(lacking.markup).toContain('value="1" checked');
  const others = { code, action: 'answer', 'option.1': '0' };
  for (const place of ['7', '-1', 'x', '1.0', '', ' ', '0x1'])
    expect((await ada.post({ ...others, 'option.0': place })).status).toBe(400);
  expect(await answers()).toEqual([]);
  const told = await ada.post([
    ['code', code],
    ['action', 'answer'],
    ['option.0', '0'],
    ['option.1', '0'],
    ['option.1', '2'],
  ]);
  expect(told.text).toContain('Answered Your answer is recorded. By ada.');
  expect(await answers()).toMatchObject([
    { said: { status: 'answered', answers: [{}, {}] }, principal: 'ada' },
  ]);
});

test('a text with a type says what it must be, and keeps what was typed', async () => {
  const count = questionTool({
    description: 'Asks.',
    inputSchema: z.object({}),
    toQuestion: () => ({
      kind: 'form',
      text: 'How many?',
      fields: [
        {
          key: 'seats',
          label: 'Seats',
          options: [],
          min: 0,
          max: 0,
          freeText: 'only',
          schema: { type: 'integer', minimum: 1, maximum: 10 },
        },
      ],
      allowDismiss: true,
    }),
    toResult: () => ({ status: 'succeeded', output: 'answered' }),
  });
  const { invite, answers } = await openDesk({
    calls: [{ id: 'q1', name: 'count', input: {} }],
    agent: { tools: { count }, toolApproval: {} },
  });
  const ada = await invite('ada');
  const shown = await ada.send();
  expect(shown.text).toContain('Seats (an integer from 1 to 10)');
  expect(shown.markup).toContain('inputmode="numeric"');
  expect(shown.markup).not.toContain('type="number"');
  const refused = await ada.press('answer', { 'text.0': 'eleven' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('must be an integer from 1 to 10');
  expect(refused.markup).toContain('>eleven</textarea>');
  expect(await answers()).toEqual([]);
  await ada.press('answer', { 'text.0': '7' });
  expect(await answers()).toMatchObject([{ said: { answers: [{ text: '7' }] } }]);
});

test('a question can be left unanswered', async () => {
  const { invite, answers } = await openDesk({
    calls: [{ id: 'q1', name: 'ask_question', input: { question: 'Where to?' } }],
  });
  const ada = await invite('ada');
  expect((await ada.send()).text).toContain('Where to?');
  expect((await ada.press('dismiss')).text).toContain('Skipped Your answer is recorded.');
  expect(await answers()).toMatchObject([{ said: { status: 'dismissed' } }]);
});

/** An agent that has another one pay, and people with links to what that one asks. */
async function openAbove(rule: UserApproval) {
  const office = new AgentOffice();
  const payer = office.payer('payer', [{ calls: [pay('c1', 'ACME')] }, { text: 'Paid.' }], {
    toolApproval: { pay: rule },
  });
  const script = [{ calls: [ask('c1', 'payer', 'Pay ACME.')] }, { text: 'Done.' }];
  const boss = office.agent('boss', script, { tools: { payer: office.tool(payer) } });
  const thread = await boss.thread('t');
  const { userInputRequests } = await boss.run('Have ACME paid.', thread, { principal: 'zoe' });
  const links = createLinks({ agents: [payer, boss], url, keys: [secretKey('one')] });
  const [request] = userInputRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  const invite = async (principal: string) =>
    new Visitor(links.handler, await links.create(request, { principal }));
  const payments = async () => {
    await boss.run([], thread);
    return office.payments.map(({ to }) => to);
  };
  return { invite, payments };
}

test("a sub-agent's request is answered by a link in the thread above, and says who asks", async () => {
  const { invite, payments } = await openAbove({ type: 'user-approval' });
  const ada = await invite('ada');
  expect((await ada.send()).text).toContain('Asked by: payer');
  expect((await ada.press('approve')).text).toContain('Approved Your answer is recorded. By ada.');
  expect(await payments()).toEqual(['ACME']);
});

test("a vote for a sub-agent's request is told as one", async () => {
  const { invite, payments } = await openAbove({ type: 'user-approval', quorum: 2 });
  const told = await (await invite('ada')).press('approve');
  expect(told.text).toContain('Your approval is recorded 1 of 2 approvals');
  expect((await (await invite('ben')).press('approve')).text).toContain('By ada, ben.');
  expect(await payments()).toEqual(['ACME']);
});

test('an agent without a name, and a person who is an object, have links too', async () => {
  const { invite, answers } = await openDesk({ agent: { name: undefined } });
  const ada = await invite({ id: 'u-17', name: 'Ada' });
  expect((await ada.send()).text).toContain('For Ada (u-17) .');
  expect((await ada.press('approve')).text).toContain('Your answer is recorded. By Ada (u-17).');
  expect(await answers()).toMatchObject([{ principal: { id: 'u-17', name: 'Ada' } }]);
});
