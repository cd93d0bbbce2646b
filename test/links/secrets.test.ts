import { tool } from 'ai';
import { createLinks } from 'holdpoint/links';
import { questionTool } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openDesk } from './link-desk.ts';

const pin = '4711-0815';
const input = { to: 'ACME', euros: 500, pin, note: `The pin is ${pin}.` };

/** A desk whose agent pays with a secret that the tool's schema declares, or that its links' options do. */
async function openSecretDesk(declaredBy: 'schema' | 'app', rule: object = {}) {
  const ran: unknown[] = [];
  const secret = declaredBy === 'schema' ? z.string().meta({ format: 'password' }) : z.string();
  const pay = tool({
    description: 'Pays somebody.',
    inputSchema: z.object({ to: z.string(), euros: z.number(), pin: secret, note: z.string() }),
    execute: async (given) => {
      ran.push(given);
      return 'paid';
    },
  });
  const desk = await openDesk({
    calls: [{ id: 'c1', name: 'pay', input }],
    rule: { text: `Pay with ${pin}?`, reason: `It has ${pin}.`, ...rule },
    agent: { tools: { pay } },
    ...(declaredBy === 'app' && {
      links: { formats: { pay: [{ path: ['pin'], format: { type: 'secret' } }] } },
    }),
  });
  return { ...desk, ran };
}

test.each(['schema', 'app'] as const)(
  'a secret that the %s declares is on no page of a link, and runs as it is',
  async (declaredBy) => {
    const { invite, work, ran, request } = await openSecretDesk(declaredBy, { risk: 'critical' });
    const ada = await invite('ada');
    const first = await ada.send();
    expect(first.text).toContain('Pay with ••••••?');
    expect(first.text).toContain('pin "••••••" note "••••••"');
    expect(first.text).toContain('Secrets: 2 arguments can’t be shown here');
    expect(first.text).toContain('Why: It has ••••••.');
    const second = await ada.press('approve');
    expect(second.buttons).toEqual(['confirm']);
    const told = await ada.post({ ...second.hidden, action: 'confirm', read: 'yes' });
    expect(told.text).toContain('Your answer is recorded.');
    for (const page of [first, second, told]) expect(page.markup).not.toContain(pin);
    /* The digest of the request covers the secret, and everything else that it covers is known. */
    const [, claims = ''] = new URL(ada.link).pathname.split('.');
    const { digest } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    expect(digest).not.toBe(Reflect.get(request, 'digest'));
    await work();
    expect(ran).toEqual([input]);
  },
);

test('a link with a secret is of what was shown: after an edit it answers nothing', async () => {
  const { agent, thread, request, invite, answers } = await openSecretDesk('schema', {
    editable: true,
    quorum: 2,
  });
  const ada = await invite('ada');
  expect((await ada.send()).text).not.toContain('edited here');
  if (request.type !== 'approval-request') throw new Error('It is no approval.');
  const edited = request.approve({ input: { ...input, euros: 5 } });
  await agent.respond(edited, thread, { principal: 'ben' });
  expect((await ada.send()).status).toBe(409);
  expect((await ada.press('approve')).status).toBe(409);
  const [now] = thread.activeRequests;
  if (now === undefined) throw new Error('Nothing waits.');
  const page = await (await invite('ada', now)).send();
  expect(page.text).toContain('euros 5 pin "••••••"');
  expect(page.markup).not.toContain(pin);
  expect(await answers()).toHaveLength(1);
});

test('a vote changes nothing of what a link with a secret asks about', async () => {
  const { invite, answers } = await openSecretDesk('schema', { quorum: 2 });
  const [ada, ben] = [await invite('ada'), await invite('ben')];
  await ada.press('approve', { reason: `With ${pin}.` });
  const page = await ben.send();
  expect(page.text).toMatch(/Approved by: ada, .+: With ••••••\./);
  expect((await ben.press('approve')).text).toContain('Your answer is recorded.');
  expect(await answers()).toHaveLength(2);
});

test.each([
  ['a format that there is not', { pay: [{ path: ['pin'], format: { type: 'hidden' } }] }],
  ['a path that is a text', { pay: [{ path: 'pin', format: { type: 'secret' } }] }],
])('%s is refused', async (_, formats) => {
  const { options } = await openDesk();

  expect(() => Reflect.apply(createLinks, undefined, [{ ...options, formats }])).toThrow(
    /formats is not valid/,
  );
});

/** A question of two fields whose labels quote a secret argument of the call that asks it. */
const cardTool = questionTool({
  description: 'Asks about a card.',
  inputSchema: z.object({ pin: z.string().meta({ format: 'password' }) }),
  toQuestion: (asked) => ({
    kind: 'form',
    text: 'Is the card valid?',
    fields: [
      {
        key: 'valid',
        label: `Is ${asked.pin} valid`,
        options: [{ id: 'yes', label: 'Yes' }],
        min: 1,
        max: 1,
        freeText: 'never',
      },
    ],
    allowDismiss: true,
  }),
  toResult: () => ({ status: 'succeeded', output: 'answered' }),
});

test('a question that is sent without a pick says its fault without the secret in its label', async () => {
  const { invite, answers } = await openDesk({
    calls: [{ id: 'q1', name: 'ask_card', input: { pin } }],
    agent: { tools: { ask_card: cardTool }, toolApproval: {} },
  });
  const ada = await invite('ada');
  const page = await ada.press('answer');
  expect(page.status).toBe(400);
  expect(page.text).toContain('Is •••••• valid needs at least 1 option(s). Is •••••• valid');
  expect(page.markup).not.toContain(pin);
  expect(await answers()).toEqual([]);
});
