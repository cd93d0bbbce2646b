import type { Agent } from '../../agent/agent.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { InboxAction, InboxOutcome } from './inbox-api.ts';
import { type InboxContext, type InboxUser, maySettle, reportMistake } from './inbox-context.ts';
import { parseTrouble } from './describe-entry.ts';
import { findSeenRequest } from './read-request.ts';
import { describeOutcome, findShown } from './record-answers.ts';

/** Does what a person wants with one request, apart from answering it. */
export async function act(
  inbox: InboxContext,
  user: InboxUser,
  asked: InboxAction,
): Promise<InboxOutcome> {
  return describeOutcome(inbox, user, asked, async () => actOn(inbox, user, asked));
}

async function actOn(inbox: InboxContext, user: InboxUser, asked: InboxAction): Promise<void> {
  const { action, requestId } = asked;
  switch (action.type) {
    case 'withdraw': {
      const { agent, thread } = await findShown(inbox, user, asked);
      return agent.withdraw(thread, requestId, user.by);
    }
    case 'reassign': {
      const { agent, thread } = await findShown(inbox, user, asked);
      return agent.reassign(thread, requestId, action.to, user.by);
    }
    case 'settle':
      return settle(inbox, user, asked, action.outcome);
    case 'retry':
      return retry(inbox, user, asked);
    case 'claim':
      return claim(inbox, user, asked);
    case 'release':
      return inbox.claims.release(asked, user);
    case 'remember': {
      const { agent, thread } = await findShown(inbox, user, asked);
      return agent.remember(thread, requestId, action.remember, user.by);
    }
  }
}

async function settle(
  inbox: InboxContext,
  user: InboxUser,
  asked: InboxAction,
  outcome: Parameters<Agent['settle']>[2],
): Promise<void> {
  const { agent, thread, call } = await findTrouble(inbox, user, asked, 'lost-call');
  if (call === undefined) throw makeNothingError(asked.requestId);
  await agent.settle(thread, call.toolCallId, outcome, user.by);
}

/** Runs a stuck thread once more. Resolves when that run has begun: it may take long, and goes on by itself. */
async function retry(inbox: InboxContext, user: InboxUser, asked: InboxAction): Promise<void> {
  const { agent, thread } = await findTrouble(inbox, user, asked, 'stuck-thread');
  if (!inbox.agents.canRun) {
    throw new HoldpointError(
      'not-allowed',
      'This process has no model and no tools, so that it can run no thread. Where the agent is: agent.run([], thread).',
    );
  }
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const stopListening = agent.on('run-started', ({ threadId }) => {
    if (threadId === thread.id) resolve();
  });
  const running = agent.run([], thread, user.by);
  running.catch((error: unknown) => reportMistake(inbox, 'The retry of a thread', error));
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
  asked: InboxAction,
  kind: 'lost-call' | 'stuck-thread',
): Promise<{ agent: Agent; thread: AgentThread; call?: { toolCallId: string } | undefined }> {
  const { agent, thread, seen } = await findShown(inbox, user, asked);
  const { row } = seen;
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
async function claim(inbox: InboxContext, user: InboxUser, asked: InboxAction): Promise<void> {
  const { row, rights } = await findSeenRequest(inbox, user, asked);
  if (!rights.mayAnswer && !(await maySettle(inbox, user, row))) {
    throw new HoldpointError('not-allowed', `This user may not answer ${row.requestId}.`);
  }
  inbox.claims.claim(row, user, inbox.agents.host.now());
}
