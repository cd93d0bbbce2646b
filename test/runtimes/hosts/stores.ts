import { HoldpointError, type ThreadStore } from 'holdpoint';
import { storeConformance } from 'holdpoint/testing/store';
import { type Check, equal, played } from './played.ts';
import { cycle } from './plays.ts';
import type { SqliteHooks } from '../../../src/stores/sqlite-on/hooks.ts';

/** Gives an empty database, as a function that opens a store on it. */
type Fresh = () => Promise<(hooks?: SqliteHooks) => ThreadStore>;

/** One append, made twice: the second fails at its grant, whose id exists, after its entry has been inserted. */
async function failInside(store: ThreadStore): Promise<void> {
  const grant = {
    grantId: 'g',
    agent: null,
    toolName: 'pay',
    person: null,
    text: '',
    createdAt: 1,
  };
  const append = async (threadId: string): Promise<void> => {
    const summary = { threadId, revision: 1, hash: 'hash', failures: 0, updatedAt: 1 };
    await store.append(
      threadId,
      { revision: 0, hash: '' },
      [{ revision: 1, text: '{}' }],
      { ...summary, status: 'idle', openRequests: 0 },
      { grants: [{ type: 'create', grant }] },
    );
  };
  await append('a');
  const failed = await append('b').then(
    () => false,
    () => true,
  );
  equal([failed, await store.read('b'), (await store.list({})).length], [true, [], 1]);
}

/** Two appends to one end of a log, of which each would name its thread by a hook. Databases word the failure of the second one in ways of their own. */
async function hook(open: Awaited<ReturnType<Fresh>>): Promise<void> {
  const store = open({
    onWake: ({ threadId }, { run }) =>
      run(
        "insert into holdpoint_grants (grant_id, agent, tool_name, body, created_at) values ('woken ' || ?, '', '', '', 7)",
        [threadId],
      ),
  });
  const append = async (threadId: string): Promise<string> => {
    const summary = { threadId, revision: 1, hash: 'hash', failures: 0, updatedAt: 1 };
    const entries = [{ revision: 1, text: '{}' }];
    const idle = { ...summary, status: 'idle', openRequests: 0 } as const;
    return store.append(threadId, { revision: 0, hash: '' }, entries, idle).then(
      () => 'appended',
      (error: unknown) => String(HoldpointError.isInstance(error) ? error.code : error),
    );
  };
  equal([await append('a'), await append('a')], ['appended', 'revision-conflict']);
  equal([(await store.read('a')).length, await append('b')], [1, 'appended']);
}

const cases: Record<string, (fresh: Fresh) => Promise<void>> = {
  ...Object.fromEntries(
    storeConformance.map(({ name, check }) => [
      name,
      async (fresh: Fresh) => {
        const open = await fresh();
        await check(open(), open);
      },
    ]),
  ),
  'an append that fails inside leaves nothing': async (fresh) => failInside((await fresh())()),
  'what a hook adds is written with its append, or not at all': async (fresh) =>
    hook(await fresh()),
  'a cycle': async (fresh) => cycle((await fresh())()),
};

/** The names of these cases, in their order. */
export const storeCaseNames: readonly string[] = Object.keys(cases);

/** What became of the conformance cases and more on a kind of store. */
export async function playStore(fresh: Fresh): Promise<Record<string, string>> {
  const checks = Object.entries(cases).map(([name, check]): [string, Check] => [
    name,
    async () => check(fresh),
  ]);
  return played(Object.fromEntries(checks));
}
