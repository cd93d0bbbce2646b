import { createToolServer, type GrantStore } from 'holdpoint/rap';
import { describe, expect, test } from 'vitest';
import type { Callback } from './runtime.ts';
import { signatureOf } from '../rap/standard-webhooks.ts';
import { acmeKey, globexKey, modes, secretOf, type Tenant, twoTenants } from './tenants.ts';
import { pickCases } from '../support/sampling.ts';

const cancel = { thread_id: 'trip-42', tool_call_id: 'call_abc123' };
const close = { thread_id: 'trip-42' };
/* The same message about what never existed. */
const never = { thread_id: 'trip-43', tool_call_id: 'call_never' };

/** The message as a caller sends it about its own calls: where nothing is signed, with its callback URL. */
function from({ callbackUrl }: Tenant, message: object): object {
  return { ...message, callback_url: callbackUrl };
}

function expectSigned({ headers, text }: Callback, by: Buffer): void {
  const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
  expect(headers['webhook-signature']).toBe(signatureOf(by, id, timestamp, text));
}

describe.each(pickCases(modes))(
  'Acme and Globex share a tool server (%s), and both have a trip-42:',
  (mode) => {
    test('“yes for the session” at Acme lets Globex delete nothing', async () => {
      const { acme, deleted, globex } = await twoTenants(mode);
      expect(await acme.goes(0, { id: '1' })).toBe('asked, then Deleted.');
      expect(await globex.goes(2, { id: '2' })).toBe('asked, then Kept.');
      expect(await acme.goes(2, { id: '3' })).toBe('Deleted.');
      expect(deleted).toHaveLength(2);
    });

    test('Globex’s call with the ids of Acme’s runs too, and each result goes home', async () => {
      const { acme, globex } = await twoTenants(mode);
      expect((await acme.invoke()).status).toBe(200);
      expect((await globex.invoke()).status).toBe(200);
      const [ofAcme, ofGlobex] = [await acme.runtime.next(), await globex.runtime.next()];
      await acme.selects(ofAcme, 2);
      await globex.selects(ofGlobex, 1);
      expect((await acme.runtime.next()).json.text).toBe('Kept.');
      expect((await globex.runtime.next()).json.text).toBe('Deleted.');
      expect((await acme.invoke()).status).toBe(200);
      expect(acme.runtime.types).toEqual(['user_choice', 'tool_result']);
    });

    test.each<[string, string, (acme: Tenant, globex: Tenant) => object]>([
      ['a bare cancellation', '/cancel_tool_call', () => cancel],
      ['its cancellation', '/cancel_tool_call', (_, globex) => from(globex, cancel)],
      [
        'a cancellation as Acme’s origin',
        '/cancel_tool_call',
        ({ runtime }) => ({
          ...cancel,
          callback_url: `${runtime.origin}/callback?capability=guess`,
        }),
      ],
      ['a bare status query', '/tool_call_status', () => cancel],
      ['its status query', '/tool_call_status', (_, globex) => from(globex, cancel)],
      [
        'a status query as Acme’s origin',
        '/tool_call_status',
        ({ runtime }) => ({ ...cancel, callback_url: `${runtime.origin}/callback` }),
      ],
      ['a bare closing', '/close_thread', () => close],
      ['its closing', '/close_thread', (_, globex) => from(globex, close)],
      [
        'a closing as Acme’s origin',
        '/close_thread',
        ({ runtime }) => ({ ...close, callback_url: `${runtime.origin}/callback` }),
      ],
    ])(
      '%s by Globex is answered as if the ids never existed, and Acme’s call goes on',
      async (_, path, bodyOf) => {
        const { acme, globex } = await twoTenants(mode);
        await acme.invoke();
        const asked = await acme.runtime.next();
        const body = bodyOf(acme, globex);
        const unknown = await globex.posts(path, { ...body, ...never });
        expect(await globex.posts(path, body)).toEqual(unknown);
        await acme.selects(asked, 1);
        expect((await acme.runtime.next()).json.text).toBe('Deleted.');
      },
    );

    test('Acme itself sees, cancels and closes what is its own', async () => {
      const { acme } = await twoTenants(mode);
      await acme.invoke({ id: 'call_abc123' });
      await acme.runtime.next();
      const alive = await acme.posts('/tool_call_status', from(acme, cancel));
      expect(alive.body).toEqual({ alive: true });
      await acme.posts('/cancel_tool_call', from(acme, cancel));
      expect((await acme.runtime.next()).json.text).toBe('Error: The call was cancelled.');
      await acme.invoke({ id: '2' });
      await acme.runtime.next();
      await acme.posts('/close_thread', from(acme, close));
      expect((await acme.runtime.next()).json.text).toBe('Error: The conversation was closed.');
    });

    test('Globex’s closing of its trip-42 leaves the grants of Acme’s', async () => {
      const { acme, globex } = await twoTenants(mode);
      await acme.goes(0, { id: '1' });
      await globex.goes(0, { id: '1' });
      await globex.posts('/close_thread', from(globex, close));
      expect(await globex.goes(2, { id: '2' })).toBe('asked, then Kept.');
      expect(await acme.goes(2, { id: '2' })).toBe('Deleted.');
      await acme.posts('/close_thread', from(acme, close));
      expect(await acme.goes(2, { id: '3' })).toBe('asked, then Kept.');
    });

    test('two users of Acme share neither a grant nor a call', async () => {
      const { acme, deleted } = await twoTenants(mode);
      expect(await acme.goes(0, { id: '1', user_id: 'ada' })).toBe('asked, then Deleted.');
      expect(await acme.goes(2, { id: '2', user_id: 'ben' })).toBe('asked, then Kept.');
      expect(await acme.goes(2, { id: '3' })).toBe('asked, then Kept.');
      expect(await acme.goes(1, { id: '1', user_id: 'ben' })).toBe('asked, then Deleted.');
      expect(await acme.goes(2, { id: '4', user_id: 'ada' })).toBe('Deleted.');
      expect(deleted).toEqual(['ada', 'ben', 'ada']);
    });

    test('a cancellation or status query that names a user is about that user alone', async () => {
      const { acme } = await twoTenants(mode);
      await acme.invoke({ user_id: 'ada' });
      const asked = await acme.runtime.next();
      const ofBen = from(acme, { ...cancel, user_id: 'ben' });
      expect((await acme.posts('/tool_call_status', ofBen)).body).toEqual({ alive: false });
      await acme.posts('/cancel_tool_call', ofBen);
      await acme.posts('/close_thread', from(acme, { ...close, user_id: 'ben' }));
      await acme.selects(asked, 1);
      expect((await acme.runtime.next()).json.text).toBe('Deleted.');
      await acme.invoke({ user_id: 'ada', id: '2' });
      await acme.runtime.next();
      const ofAda = from(acme, { ...cancel, tool_call_id: '2', user_id: 'ada' });
      await acme.posts('/cancel_tool_call', ofAda);
      expect((await acme.runtime.next()).json.text).toBe('Error: The call was cancelled.');
    });

    test('ids that look alike when they are put together are different calls and grants', async () => {
      const { acme } = await twoTenants(mode);
      const ids = [
        { group_id: 'a', id: 'b' },
        { group_id: 'a","b', id: 'b' },
        { group_id: '["a"', id: 'b' },
        { group_id: 'b', id: 'a', user_id: 'a' },
        { group_id: 'b', id: 'a', user_id: '' },
        { group_id: 'b', id: 'a', user_id: 'null' },
        { group_id: 'b', id: 'a' },
        { group_id: 'b', id: 'a', requesters_digest: 'a' },
        { group_id: 'b', id: 'a', requesters_digest: 'null' },
      ];
      for (const each of ids) expect(await acme.goes(0, each)).toBe('asked, then Deleted.');
    });

    test('a grant that was stored before callers were told apart permits nothing', async () => {
      const grants: GrantStore = {
        get: (conversation, key) => conversation === 'trip-42' && key === 'delete',
        set: () => {},
      };
      const { acme } = await twoTenants(mode, { grants });
      expect(await acme.goes(2, {})).toBe('asked, then Kept.');
    });

    test('after a restart, a store of grants permits the same callers the same', async () => {
      const kept = new Set<string>();
      const grants: GrantStore = {
        get: (...names) => kept.has(names.join('\n')),
        set: (...names) => kept.add(names.join('\n')),
      };
      const { acme, globex, restart } = await twoTenants(mode, { grants });
      await acme.goes(0, { user_id: 'ada' });
      restart();
      expect(await acme.goes(2, { user_id: 'ada' })).toBe('Deleted.');
      expect(await globex.goes(2, { user_id: 'ada' })).toBe('asked, then Kept.');
    });
  },
);

describe('with a secret for each caller,', () => {
  test('an answer of Globex to Acme’s prompt is for an unknown prompt, and the prompt stays open', async () => {
    const { acme, globex } = await twoTenants('signed');
    await acme.invoke();
    const asked = await acme.runtime.next();
    const { pathname } = new URL(asked.json.response_url);
    const unknown = await globex.posts('/user_choice_response/never', {});
    expect(unknown.status).toBe(404);
    expect(await globex.selects(asked, 0)).toEqual(unknown);
    expect(await globex.posts(pathname.replace('/rap', ''), 'not a selection')).toEqual(unknown);
    expect((await acme.selects(asked, 1)).status).toBe(200);
    expect((await acme.selects(asked, 1)).status).toBe(200);
    expect(await globex.selects(asked, 1)).toEqual(unknown);
    expect((await acme.runtime.next()).json.text).toBe('Deleted.');
  });

  test('Globex, which claims Acme’s callbacks, uses no grant of Acme’s, and is signed for as itself', async () => {
    const { acme, deleted, globex } = await twoTenants('signed');
    await acme.goes(0, { id: '1' });
    await globex.invoke({ id: '2', callback_url: acme.callbackUrl });
    const asked = await acme.runtime.next();
    expect(asked.json.type).toBe('user_choice');
    expectSigned(asked, globexKey);
    expect(deleted).toHaveLength(1);
  });

  test('each caller’s callbacks are signed with its own secret', async () => {
    const { acme, globex } = await twoTenants('signed');
    await acme.goes(2, {});
    await globex.goes(2, {});
    for (const callback of acme.runtime.callbacks) expectSigned(callback, acmeKey);
    for (const callback of globex.runtime.callbacks) expectSigned(callback, globexKey);
  });

  test('a caller that changes its secret, or the origin of its callbacks, is the same caller', async () => {
    const newKey = Buffer.from('thirty-two bytes, Acme knows too');
    const callers = { acme: [newKey, acmeKey].map(secretOf), globex: secretOf(globexKey) };
    const { acme } = await twoTenants('signed', { signing: { callers } });
    await acme.goes(0, { id: '1' });
    await acme.invoke({ group_id: 'other' });
    await acme.runtime.next();
    acme.rotate(newKey);
    await acme.posts('/cancel_tool_call', { ...cancel, thread_id: 'other' });
    expect((await acme.runtime.next()).json.text).toBe('Error: The call was cancelled.');
    const localhost = acme.callbackUrl.replace('127.0.0.1', 'localhost');
    await acme.invoke({ id: '2', callback_url: localhost });
    expect((await acme.runtime.next()).json.text).toBe('Deleted.');
  });

  test('Globex’s many calls do not make a recorded call of Acme’s run again', async () => {
    const { acme, callers, globex } = await twoTenants('signed', { maximumRemembered: 1 });
    await acme.goes(2, { id: '1' });
    for (const id of ['1', '2', '3']) await globex.goes(2, { id });
    await acme.invoke({ id: '1' });
    expect(await acme.goes(2, { id: '2' })).toBe('asked, then Kept.');
    expect(callers.filter((name) => name === 'acme')).toHaveLength(2);
  });

  test('a caller whose calls all wait leaves room for another that signs', async () => {
    const { acme, globex } = await twoTenants('signed', { maximumRunning: 1 });
    await acme.invoke({ id: 'c1' });
    expect((await acme.invoke({ id: 'c2' })).status).toBe(429);
    expect((await globex.invoke({ id: 'c3' })).status).toBe(200);
  });

  test('all callers that do not sign share the room, as origins are free to claim', async () => {
    const { acme, globex } = await twoTenants('unsigned', { maximumRunning: 1 });
    await acme.invoke({ id: 'c1' });
    expect((await globex.invoke({ id: 'c2' })).status).toBe(429);
  });

  test('the tool knows which caller calls; callers that share a secret are one, without a name', async () => {
    const conversations: string[] = [];
    const grants: GrantStore = {
      get: (conversation) => conversations.push(conversation) < 0,
      set: () => {},
    };
    const keys = [acmeKey, globexKey].map(secretOf);
    for (const more of [{}, { signing: { secret: keys } }]) {
      const { acme, callers, globex } = await twoTenants('signed', { grants, ...more });
      await acme.invoke({ id: '1' });
      await acme.runtime.next();
      await globex.invoke({ id: '2' });
      await globex.runtime.next();
      const names = 'signing' in more ? [undefined, undefined] : ['acme', 'globex'];
      expect(callers).toEqual(names);
      const owners = names.map((name) => JSON.stringify([['secret', name ?? null], 'trip-42']));
      expect(conversations.splice(0)).toEqual(owners);
    }
  });

  test.each<[string, NonNullable<Parameters<typeof createToolServer>[0]['signing']>]>([
    ['no caller', { callers: {} }],
    ['a caller without a secret', { callers: { acme: [] } }],
    ['a short secret', { callers: { acme: btoa('short') } }],
    [
      'one secret for two callers',
      { callers: { acme: secretOf(acmeKey), globex: acmeKey.toString('base64') } },
    ],
    [
      'a secret for everybody beside them',
      JSON.parse(`{"callers":{"acme":"${secretOf(acmeKey)}"},"secret":"${secretOf(globexKey)}"}`),
    ],
  ])('%s is a TypeError', (_what, signing) => {
    expect(() => createToolServer({ tools: {}, signing })).toThrow(TypeError);
  });
});

test('where nothing is signed, who claims Acme’s origin hears nothing: questions and results go to Acme', async () => {
  const { acme, deleted, globex } = await twoTenants('unsigned');
  await globex.invoke({ callback_url: `${acme.runtime.origin}/callback?capability=guess` });
  const asked = await acme.runtime.next();
  expect(asked.path).toBe('/callback?capability=guess');
  await acme.selects(asked, 2);
  expect((await acme.runtime.next()).json.text).toBe('Kept.');
  expect([globex.runtime.callbacks, deleted]).toEqual([[], []]);
});
