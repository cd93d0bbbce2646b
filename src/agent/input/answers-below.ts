import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  findAskingDelegation,
  type MirroredCall,
  readShownRequests,
  type Reporting,
} from '../calls/delegation.ts';
import type { AnswerContext } from './answer-context.ts';
import type { ParsedInput } from './parse-input.ts';

/**
 * Has the sub-agents record the checked answers to their requests before this thread shows them: they decide. If the process dies in
 * between, this thread shows what was recorded once it is resumed or the request is answered again.
 */
export async function recordBelow(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
): Promise<ParsedInput> {
  const { passed } = input;
  if (passed === undefined) return input;
  try {
    for (const { record } of passed) await record();
  } catch (error) {
    await showBelow(context, log, input);
    throw error;
  }
  return { ...input, reported: await readMirrors(log, passed) };
}

/** Shows what sub-agents have recorded about the requests that an input answers. Never rejects: the next answer or run shows it too. */
export async function showBelow(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
): Promise<void> {
  try {
    const below = callsBelow(context, log, input);
    if (below.length === 0) return;
    const mirror = await readMirrors(log, below);
    await log.commit((proposal) => proposal.add(...mirror(proposal, context.now())));
  } catch {}
}

/** Reads what the sub-agents of some answers have recorded. */
async function readMirrors(
  { state }: ThreadLog,
  below: readonly MirroredCall[],
): Promise<Reporting> {
  const calls = new Map(below.map((each) => [each.call.idempotencyKey, each]));
  const mirrors = await Promise.all(
    [...calls.values()].map(async ({ delegation, call, beside }) =>
      delegation.mirror(call, readShownRequests(state.head, beside)),
    ),
  );
  return (proposal, at) => mirrors.flatMap((events) => events(proposal, at));
}

/** The delegated calls whose sub-agents made the requests that an input answers. */
function callsBelow(
  { tools }: AnswerContext,
  { state: { threadId, head } }: ThreadLog,
  { answers }: ParsedInput,
): MirroredCall[] {
  const answered = new Set(answers.map(({ requestId }) => requestId));
  return head.openRequests.flatMap((open) =>
    answered.has(open.request.requestId)
      ? (findAskingDelegation(tools, { threadId, head }, open) ?? [])
      : [],
  );
}

/** Shows what a sub-agent has recorded about one of its requests, after a person changed it there. */
export async function commitMirror(
  { now }: Pick<AnswerContext, 'now'>,
  log: ThreadLog,
  asking: MirroredCall,
): Promise<void> {
  const mirror = await readMirrors(log, [asking]);
  await log.commit((proposal) => proposal.add(...mirror(proposal, now())));
}
