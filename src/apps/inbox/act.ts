import type { Agent, SeenRequest } from '../../agent.ts';
import { stringifySorted } from '../../json/json-value.ts';
import { pickToolCall, type ToolCall } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { InboxAction, InboxOutcome } from './inbox-api.ts';
import {
  type InboxContext,
  type InboxUser,
  mayRun,
  maySettle,
  reportMistake,
} from './inbox-context.ts';
import { parseTrouble } from './shown-entry.ts';
import { describeOutcome, findShown, makeUnshownError } from './record-answers.ts';

/** Performs a person's action on one request, other than an answer. */
export async function act(
  inbox: InboxContext,
  user: InboxUser,
  asked: InboxAction,
): Promise<InboxOutcome> {
  return describeOutcome(inbox, user, asked, async (seen) =>
    actOn({ inbox, user, given: { asked, seen } }, asked.action.type, asked.action),
  );
}

/** An action and its target. */
interface Asked {
  asked: InboxAction;
  seen: SeenRequest;
}

type Action = InboxAction['action'];

/** The handlers of the actions. An action that the table lacks does not compile. */
const actions: {
  readonly [TYPE in Action['type']]: (
    doing: { inbox: InboxContext; user: InboxUser; given: Asked },
    action: Extract<Action, { type: TYPE }>,
  ) => Promise<void>;
} = {
  async withdraw({ inbox, user, given: { asked, seen } }) {
    const { agent, thread } = await findShown(inbox, seen, asked.digest);
    await agent.withdraw(thread, asked.requestId, user.by);
  },
  async reassign({ inbox, user, given: { asked, seen } }, { to }) {
    const { agent, thread } = await findShown(inbox, seen, asked.digest);
    await agent.reassign(thread, asked.requestId, to, user.by);
  },
  settle: async ({ inbox, user, given }, { outcome }) => settle(inbox, user, given, outcome),
  retry: async ({ inbox, user, given }) => retry(inbox, user, given),
  run: async ({ inbox, user, given }) => runNow(inbox, user, given),
};

async function actOn<TYPE extends Action['type']>(
  doing: { inbox: InboxContext; user: InboxUser; given: Asked },
  type: TYPE,
  action: Extract<Action, { type: TYPE }>,
): Promise<void> {
  await actions[type](doing, action);
}

async function settle(
  inbox: InboxContext,
  user: InboxUser,
  given: Asked,
  outcome: Parameters<Agent['settle']>[2],
): Promise<void> {
  const { agent, thread, call } = await findTrouble(inbox, user, given, 'lost-call');
  if (call === undefined) throw makeNothingError(given.asked.requestId);
  /* The person was shown a row, which may have changed since: the call in the log is what is settled. */
  const isLogged = thread.calls.some(
    (each) => stringifySorted(pickToolCall(each)) === stringifySorted(pickToolCall(call)),
  );
  if (!isLogged) throw makeUnshownError(given.asked.requestId);
  await agent.settle(thread, call.toolCallId, outcome, user.by);
}

/** Retries a stuck thread. Resolves when the run has begun: it may take long, and continues by itself. */
async function retry(inbox: InboxContext, user: InboxUser, given: Asked): Promise<void> {
  const { agent, thread } = await findTrouble(inbox, user, given, 'stuck-thread');
  if (!inbox.agents.canRun) {
    throw new HoldpointError(
      'not-allowed',
      'This process has no model and no tools, so that it can run no thread. Where the agent is: agent.run([], thread).',
    );
  }
  const { runNow: runCall } = inbox.options;
  /* A gate runs its own calls. */
  const run =
    thread.caller === undefined || runCall === undefined
      ? async () => agent.run([], thread, user.by)
      : async () => runCall(thread.id, user.by);
  await begin(inbox, agent, thread, run);
}

/** Runs an approved call for which no client waits. Resolves when it has begun. */
async function runNow(inbox: InboxContext, user: InboxUser, { asked, seen }: Asked): Promise<void> {
  const { agent, thread } = await findShown(inbox, seen, asked.digest);
  const { runNow: run } = inbox.options;
  if (run === undefined || !mayRun(inbox, seen, thread)) {
    throw new HoldpointError(
      'not-allowed',
      `The call of request ${seen.row.requestId} can't be run from here: it is not approved, it has run, a client waits for it, or this user may not.`,
    );
  }
  await begin(inbox, agent, thread, async () => run(thread.id, user.by));
}

/** Begins a run of a thread, which may take long and continues by itself. Throws an error that occurs before it has begun. */
async function begin(
  inbox: InboxContext,
  agent: Agent,
  thread: AgentThread,
  run: () => Promise<unknown>,
): Promise<void> {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  let hasBegun = false;
  const stopListening = agent.on('run-started', ({ threadId }) => {
    if (threadId !== thread.id) return;
    hasBegun = true;
    resolve();
  });
  const running = run();
  running.catch((error: unknown) => {
    if (hasBegun) reportMistake(inbox, 'The run of a thread', error);
  });
  try {
    await Promise.race([begun, running]);
  } finally {
    stopListening();
  }
}

/** Finds the row that needs settling, for a person who may settle it. */
async function findTrouble(
  inbox: InboxContext,
  user: InboxUser,
  { asked, seen }: Asked,
  kind: 'lost-call' | 'stuck-thread',
): Promise<{ agent: Agent; thread: AgentThread; call?: ToolCall | undefined }> {
  const { row } = seen;
  const { agent, thread } = await findShown(inbox, seen, asked.digest);
  if (row.kind !== kind) {
    throw new HoldpointError('invalid-input', `Request ${row.requestId} is no ${kind}.`);
  }
  if (row.state !== 'open') {
    throw new HoldpointError('request-closed', `${row.requestId} was settled meanwhile.`);
  }
  if (!(await maySettle(inbox, user, row))) {
    throw new HoldpointError('not-allowed', 'This user may not settle calls and retry threads.');
  }
  return { agent, thread, call: parseTrouble(row)?.call };
}

function makeNothingError(requestId: string): HoldpointError {
  return new HoldpointError(
    'not-found',
    `The row of ${requestId} does not say which call was lost.`,
  );
}
