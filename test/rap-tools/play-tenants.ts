import * as fc from 'fast-check';
import type { Callback } from './runtime.ts';
import { type Tenant, twoTenants } from './tenants.ts';

const names = ['acme', 'globex'] as const;
type Name = (typeof names)[number];

const by = {
  name: fc.constantFrom(...names),
  user: fc.constantFrom(undefined, 'ada', 'ben'),
  group: fc.constantFrom('trip-42', 'trip-43'),
  id: fc.constantFrom('1', '2', '3'),
};
const named = {
  ...by,
  type: fc.constantFrom('cancel_tool_call', 'tool_call_status', 'close_thread'),
};
const messages = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('call'), ...by }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('select'),
      ...by,
      nth: fc.nat({ max: 5 }),
      /** For the session, once, or no. */
      selected: fc.constantFrom(0, 0, 1, 2),
    }),
  },
  { weight: 4, arbitrary: fc.record(named) },
);

/** What two companies send to one tool server, one message after the other. */
export const tenantMessages = fc.array(messages, { minLength: 1, maxLength: 25, size: 'max' });
type Message = typeof messages extends fc.Arbitrary<infer MESSAGE> ? MESSAGE : never;

/** A call, as its own company sees it: nobody else exists. */
interface OwnCall {
  name: Name;
  user: string | undefined;
  group: string;
  id: string;
  asked: Callback | undefined;
}

/** Plays messages, and returns where a company saw something else than if it had the server to itself. */
export async function playTenants(
  played: readonly Message[],
  mode: 'signed' | 'unsigned',
): Promise<string[]> {
  const world = await twoTenants(mode);
  const calls: OwnCall[] = [];
  const grants = new Set<string>();
  const deleted: (string | undefined)[] = [];
  const faults: string[] = [];
  const expect = (what: string, real: unknown, own: unknown): void => {
    const [got, wanted] = [real, own].map((each) => JSON.stringify(each));
    if (got !== wanted) faults.push(`${what}: ${got}, and alone it is ${wanted}.`);
  };
  const results = async (name: Name, count: number): Promise<Callback[]> => {
    const got: Callback[] = [];
    for (; got.length < count && faults.length === 0;) {
      const next = await nextOf(world[name]);
      if (next === undefined) faults.push(`${name} waits for ${count - got.length} callbacks.`);
      else got.push(next);
    }
    return got;
  };
  const ended = async (call: OwnCall, text: string): Promise<void> => {
    call.asked = undefined;
    const [result] = await results(call.name, 1);
    expect(`The result of ${call.name}`, result?.json.text, text);
  };

  for (const message of played) {
    if (faults.length > 0) break;
    const { name, user, group, id } = message;
    const tenant = world[name];
    const isMeant = (call: OwnCall): boolean =>
      call.name === name && call.group === group && (user ?? call.user) === call.user;
    switch (message.type) {
      case 'call': {
        await tenant.invoke({ group_id: group, id, ...(user && { user_id: user }) });
        const own = (call: OwnCall): boolean =>
          isMeant(call) && call.user === user && call.id === id;
        if (calls.some(own)) break;
        const call: OwnCall = { name, user, group, id, asked: undefined };
        calls.push(call);
        if (grants.has(grantOf(call))) {
          deleted.push(user);
          await ended(call, 'Deleted.');
          break;
        }
        const [asked] = await results(name, 1);
        expect(`What ${name} gets`, asked?.json.type, 'user_choice');
        call.asked = asked;
        break;
      }
      case 'select': {
        const open = calls.filter(({ asked }) => asked !== undefined);
        const call = open[message.nth % Math.max(1, open.length)];
        if (call?.asked === undefined) break;
        /* Where nothing is signed, whoever has the URL of a question is asked. */
        if (mode === 'unsigned' && call.name !== name) break;
        const { status } = await tenant.selects(call.asked, message.selected);
        expect(`The selection of ${name} for ${call.name}`, status, call.name === name ? 200 : 404);
        if (call.name !== name) break;
        if (message.selected === 0) grants.add(grantOf(call));
        if (message.selected < 2) deleted.push(call.user);
        await ended(call, message.selected < 2 ? 'Deleted.' : 'Kept.');
        break;
      }
      default: {
        const address = { thread_id: group, callback_url: tenant.callbackUrl };
        const who = user === undefined ? {} : { user_id: user };
        const isClose = message.type === 'close_thread';
        const call = isClose ? {} : { tool_call_id: id };
        const reply = await tenant.posts(`/${message.type}`, { ...address, ...call, ...who });
        const meant = calls.filter(
          (each) => each.asked !== undefined && isMeant(each) && (isClose || each.id === id),
        );
        if (message.type === 'tool_call_status') {
          expect(`The status of ${name}`, reply.body, { alive: meant.length > 0 });
          break;
        }
        const why = isClose ? 'The conversation was closed.' : 'The call was cancelled.';
        for (const each of meant) await ended(each, `Error: ${why}`);
        if (isClose) {
          for (const grant of grants) if (isGrantOf(grant, name, group)) grants.delete(grant);
        }
      }
    }
  }
  expect('What was deleted', world.deleted, deleted);
  for (const name of names) {
    const own = calls.filter((call) => call.name === name);
    const { callbacks } = world[name].runtime;
    const strange = callbacks.filter(({ json }) =>
      own.every(({ group }) => group !== json.group_id),
    );
    expect(`Callbacks that ${name} did not ask for`, strange, []);
    if (mode === 'unsigned') continue;
    const ran = world.callers.filter((each) => each === name);
    expect(`The calls of ${name} that ran`, ran.length, own.length);
  }
  return faults;
}

function grantOf({ name, group, user }: OwnCall): string {
  return JSON.stringify([name, group, user]);
}

function isGrantOf(grant: string, name: Name, group: string): boolean {
  return grant.startsWith(JSON.stringify([name, group]).slice(0, -1));
}

/* A callback that never comes is a fault, and must not hold up the test. */
async function nextOf({ runtime }: Tenant): Promise<Callback | undefined> {
  const over = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => over.resolve(undefined), 2_000);
  try {
    return await Promise.race([runtime.next(), over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
