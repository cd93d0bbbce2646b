import type { Agent } from '../../agent/agent.ts';
import type { SeenRequest } from '../../agent/list-requests.ts';
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
import { parseTrouble } from './describe-entry.ts';
import { describeOutcome, findShown, makeUnshownError } from './record-answers.ts';

/** Does what a person wants with one request, apart from answering it. */
export async function act(
  inbox: InboxContext,
  user: InboxUser,
  asked: InboxAction,
): Promise<InboxOutcome> {
  return describeOutcome(inbox, user, asked, async (seen) => actOn(inbox, user, { asked, seen }));
}

/** What is to be done, and with what. */
interface Asked {
  asked: InboxAction;
  seen: SeenRequest;
}

async function actOn(inbox: InboxContext, user: InboxUser, given: Asked): Promise<void> {
  const { asked, seen } = given;
  const { action, requestId, digest } = asked;
  switch (action.type) {
    case 'withdraw': {
      const { agent, thread } = await findShown(inbox, seen, digest);
      return agent.withdraw(thread, requestId, user.by);
    }
    case 'reassign': {
      const { agent, thread } = await findShown(inbox, seen, digest);
      return agent.reassign(thread, requestId, action.to, user.by);
    }
    case 'settle':
      return settle(inbox, user, given, action.outcome);
    case 'retry':
      return retry(inbox, user, given);
    case 'run':
      return runNow(inbox, user, given);
    case 'claim':
      return claim(inbox, user, seen);
    case 'release':
      return inbox.claims.release(seen.row, user);
    case 'remember': {
      const { agent, thread } = await findShown(inbox, seen, digest);
      return agent.remember(thread, requestId, action.remember, user.by);
    }
  }
}

async function settle(
  inbox: InboxContext,
  user: InboxUser,
  given: Asked,
  outcome: Parameters<Agent['settle']>[2],
): Promise<void> {
  const { agent, thread, call } = await findTrouble(inbox, user, given, 'lost-call');
  if (call === undefined) throw makeNothingError(given.asked.requestId);
  /* They were shown a row, which somebody may have changed: what is settled is the call in the log. */
  const isLogged = thread.calls.some(
    (each) => stringifySorted(pickToolCall(each)) === stringifySorted(pickToolCall(call)),
  );
  if (!isLogged) throw makeUnshownError(given.asked.requestId);
  await agent.settle(thread, call.toolCallId, outcome, user.by);
}

/** Runs a stuck thread once more. Resolves when that run has begun: it may take long, and goes on by itself. */
async function retry(inbox: InboxContext, user: InboxUser, given: Asked): Promise<void> {
  const { agent, thread } = await findTrouble(inbox, user, given, 'stuck-thread');
  if (!inbox.agents.canRun) {
    throw new HoldpointError(
      'not-allowed',
      'This process has no model and no tools, so that it can run no thread. Where the agent is: agent.run([], thread).',
    );
  }
  const { runNow: runCall } = inbox.options;
  /* A call of a gate, which is run by the gate. */
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

/** Begins a run of a thread, which may take long and goes on by itself. Whoever wants it is told of an error before it has begun. */
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

/** What needs settling, for somebody who may. */
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

/** Says that the person is looking at a request. Whoever can do nothing with it has no claim. */
async function claim(
  inbox: InboxContext,
  user: InboxUser,
  { row, rights }: SeenRequest,
): Promise<void> {
  if (!rights.mayAnswer && !(await maySettle(inbox, user, row))) {
    throw new HoldpointError('not-allowed', `This user may not answer ${row.requestId}.`);
  }
  inbox.claims.claim(row, user, inbox.agents.host.now());
}
