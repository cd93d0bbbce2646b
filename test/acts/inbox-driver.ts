import { createInboxHandler, type InboxHandlerOptions } from 'holdpoint/inbox';
import {
  type InboxEntry,
  inboxOutcomesSchema,
  inboxPageSchema,
} from '../../src/apps/inbox/inbox-api.ts';
import { no, only, shownOf, yes } from '../inbox/inbox-site.ts';
import { deciders, type Do, type Driver, type Person } from './acts.ts';
import { pickFirst } from './agent-driver.ts';
import { letIn, postJson, readCode } from './http-drivers.ts';
import { openScene, remember, type World } from './scenes.ts';

const site = 'http://site.test/inbox';

/** What an inbox has besides who may use it. */
type MakeOptions = (world: World) => Partial<InboxHandlerOptions>;

function makeHandler(world: World, by: Person, options: MakeOptions) {
  return createInboxHandler({
    agents: [world.agent],
    authorize: () => letIn(by),
    maySettle: ({ principal }) => deciders.includes(principal),
    /* So that nobody is refused only because they see nothing. */
    maySee: () => true,
    ...options(world),
  });
}

type Handler = ReturnType<typeof makeHandler>;

async function readPage(handler: Handler, list: string) {
  const response = await handler(new Request(`${site}/api/requests?list=${list}`));
  return response.ok ? inboxPageSchema.parse(await response.json()) : undefined;
}

/** The only entry that is open, or else the only one. */
async function findEntry(handler: Handler): Promise<InboxEntry> {
  const lists = ['all', 'unsettled', 'decided'];
  const pages = await Promise.all(lists.map(async (list) => readPage(handler, list)));
  const entries = pages.flatMap((page) => page?.entries ?? []);
  const open = entries.filter(({ state }) => state === 'open');
  return only(open.length === 0 ? entries : open);
}

const { element: outcomeSchema } = inboxOutcomesSchema.shape.outcomes;

/** What somebody sends about what Ada sees: those who are not let in may know of it from her. */
function sending(
  options: MakeOptions,
  path: string,
  makeBody: (entry: InboxEntry, world: World) => object | Promise<object>,
): Do {
  return async (world, by) => {
    const entry = await findEntry(makeHandler(world, 'ada', options));
    const handler = makeHandler(world, by, options);
    const viewer = (await readPage(handler, 'all'))?.viewer ?? '';
    const body = { viewer, ...(await makeBody(entry, world)) };
    const response = await handler(postJson(`${site}/api/${path}`, body));
    if (!response.ok) return readCode(response);
    const json: unknown = await response.json();
    const several = inboxOutcomesSchema.safeParse(json).data?.outcomes ?? [];
    const outcome = several[0] ?? outcomeSchema.parse(json);
    return outcome.status === 'refused' ? outcome.error.code : undefined;
  };
}

function answer(
  options: MakeOptions,
  make: (entry: InboxEntry, world: World) => object | Promise<object>,
): Do {
  return sending(options, 'answers', async (entry, world) => ({
    answers: [{ ...shownOf(entry), answer: await make(entry, world) }],
  }));
}

/** An action on what the inbox shows. */
export function action(options: MakeOptions, sent: object): Do {
  return sending(options, 'actions', (entry) => ({ ...shownOf(entry), action: sent }));
}

/** What the page of an inbox sends. */
export function inboxWays(options: MakeOptions = () => ({})) {
  return {
    approve: answer(options, (entry) => yes(entry)),
    reject: answer(options, (entry) => no(entry)),
    'answer-question': answer(options, async (_entry, world) => pickFirst(world)),
    withdraw: action(options, { type: 'withdraw' }),
    reassign: action(options, { type: 'reassign', to: 'dora' }),
    remember: answer(options, (entry) => ({ ...yes(entry), remember })),
    settle: action(options, { type: 'settle', outcome: { status: 'failed', error: 'Not paid.' } }),
    resume: action(options, { type: 'retry' }),
  } satisfies Driver['ways'];
}

export const inboxDriver: Driver = {
  channel: 'inbox',
  open: openScene,
  ways: inboxWays(),
  async force(act, world, by) {
    const handler = makeHandler(world, by, () => ({}));
    const viewer = (await readPage(handler, 'all'))?.viewer ?? '';
    const shown = { requestId: 'any', threadId: 't', digest: 'any' };
    const body = { viewer, ...shown, action: { type: act } };
    return readCode(await handler(postJson(`${site}/api/actions`, body)));
  },
};
