import type { AgentOptions, SettingFailure } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler } from 'holdpoint/ui';
import { describe, expect, test, vi } from 'vitest';
import { waitingThread } from '../support/waiting-thread.ts';
import { pickCases } from '../support/sampling.ts';

const page = 'https://shop.example/chat';

function posted(body: unknown): Request {
  const headers = { 'content-type': 'application/json' };
  return new Request(page, { method: 'POST', headers, body: JSON.stringify(body) });
}

const reading = 'reads the page';
const writing = 'writes on the page';
const running = 'runs over AG-UI';
const channels = [reading, writing, running] as const;

/** What somebody for whom `authorize` returns this principal gets of a thread that waits for an approval, on each channel. */
async function visited(principal: unknown, options: Partial<AgentOptions> = {}) {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const at = await waitingThread([{ text: 'Booked.' }], options);
  const failures: SettingFailure[] = [];
  at.agent.on('setting-failed', (failure) => void failures.push(failure));
  const authorize = () => ({ principal });
  const ui = createUiHandler({ agent: at.agent, authorize });
  const agUi = createAgUiHandler({ agent: at.agent, authorize });
  const { requestId } = at.request;
  const answer = { type: 'approval-response', requestId, approved: true };
  const resume = [{ interruptId: requestId, status: 'resolved', payload: { approved: true } }];
  const input = { threadId: 't', runId: 'r', state: {}, messages: [], tools: [], context: [] };
  const visits: Record<(typeof channels)[number], () => Promise<Response>> = {
    [reading]: async () => ui(new Request(`${page}?id=t`)),
    [writing]: async () => ui(posted({ id: 't', answers: [answer] })),
    [running]: async () => agUi(posted({ ...input, forwardedProps: {}, resume })),
  };
  return { ...at, failures, visits };
}

const nobody: [string, unknown, Partial<AgentOptions>?][] = [
  ['false, as `isMember && user.email` gives for a stranger', false],
  ['true', true],
  ['an empty text', ''],
  ['a blank text', ' \t'],
  ['a text that nobody can see', '\u200b\u2800'],
  ['0', 0],
  ['a number', 7],
  ['an empty list', []],
  ['a list', ['ann']],
  ['an object that has no id', { role: 'admin' }],
  ['an object whose id is blank', { id: ' ', email: '' }],
  ['an object whose id is no text', { id: false }],
  [
    'an object without what principalId reads',
    { id: 'ann' },
    { principalId: (who) => field(who, 'user') },
  ],
  ['a principal for which principalId throws', 'ann', { principalId: () => JSON.parse('{') }],
  ['a principal for which principalId gives a blank text', 'ann', { principalId: () => '\u200b' }],
];

function field(principal: unknown, name: string): string {
  const value: unknown = typeof principal === 'object' && principal && Reflect.get(principal, name);
  return typeof value === 'string' ? value : '';
}

describe.each(pickCases(channels, 2))('who %s', (channel) => {
  test.each(pickCases(nobody, 3))(
    'as %s is a stranger, and the developer is told',
    async (_name, principal, options) => {
      const at = await visited(principal, options);
      const response = await at.visits[channel]();
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: 'not-allowed' } });
      expect(at.read).toEqual([]);
      await at.unchanged();
      expect(at.failures).toEqual([
        {
          setting: 'authorize',
          kind: 'invalid',
          threadId: 't',
          problem: expect.stringContaining('names nobody'),
        },
      ]);
    },
  );

  test.each([[undefined], [null]])('as %s is refused without an alarm', async (principal) => {
    const at = await visited(principal);
    expect((await at.visits[channel]()).status).toBe(403);
    await at.unchanged();
    expect(at.failures).toEqual([]);
  });

  test.each<[string, unknown, Partial<AgentOptions>?]>([
    ['a text', 'ann'],
    ['an object with an id', { id: 'ann', role: 'admin' }],
    ['an object with a number as its id', { id: 0 }],
    [
      'an object that principalId names',
      { user: 'ann' },
      { principalId: (who) => field(who, 'user') },
    ],
  ])('as %s is somebody', async (_name, principal, options) => {
    const at = await visited(principal, options);
    const response = await at.visits[channel]();
    expect(response.status).toBe(200);
    await response.text();
    expect(at.failures).toEqual([]);
  });
});

test('the warning quotes nothing of the principal', async () => {
  const warned = vi.spyOn(console, 'warn');
  const at = await visited({ token: 'secret' });
  await at.visits[reading]();
  expect(warned.mock.calls.flat().join(' ')).toContain('authorize');
  expect(warned.mock.calls.flat().join(' ')).not.toContain('secret');
});
