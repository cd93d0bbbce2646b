import type { AskedEndings } from '../input/asked-endings.ts';
import type { Acting, ActRow, SingleAct } from './act.ts';
import { type AdmittedReassignment, reassign, withdraw } from './change-request.ts';
import { cancel, retract, stop } from './end-turn.ts';
import { type AdmittedMemory, remember } from './remember-answer.ts';
import { revoke } from './revoke-grant.ts';
import { type AdmittedOutcome, type AdmittedRetry, deliver, settle } from './settle-call.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { Proposal } from '../../thread/proposal.ts';
import { refuseChild } from '../input/answer-errors.ts';
import { commitMirror } from '../input/answers-below.ts';
import { untilSettled } from '../input/ask-again.ts';

/** The facts that admitting each act finds. */
interface Found {
  withdraw: undefined;
  reassign: AdmittedReassignment;
  remember: AdmittedMemory;
  settle: AdmittedOutcome | AdmittedRetry;
  deliver: AdmittedOutcome;
  retract: undefined;
  stop: undefined;
  cancel: AskedEndings;
  revoke: undefined;
}

/** The admission and decision of each act. See ADR 76. */
const acts: { readonly [TYPE in SingleAct]: ActRow<TYPE, Found[TYPE]> } = {
  withdraw,
  reassign,
  remember,
  settle,
  deliver,
  retract,
  stop,
  cancel,
  revoke,
};

/** Performs an act: asks who may, decides, and appends. Starts over if others append in between. Resolves with the appended events. */
export async function performAct<TYPE extends SingleAct>(
  acting: Acting<TYPE>,
): Promise<readonly ThreadEvent[]> {
  const { context, log, act, above } = acting;
  const row: ActRow<TYPE, Found[TYPE]> = acts[act.type];
  const { admit, decide, isOutermost, isFact = false } = row;
  if (isOutermost === true && above === undefined) refuseChild(log.state);
  return untilSettled(log, async () => {
    const admitted = await admit(acting);
    /* If the process dies before this, this thread shows what was recorded once it is resumed or the act is repeated. */
    if ('recordedBelow' in admitted) return commitMirror(context, log, admitted.recordedBelow);
    const { found } = admitted;
    const decideNow = (proposal: Proposal): void =>
      decide(proposal, { ...acting, found, at: context.now() });
    return context.commitCancelled(log, decideNow, async (each) => log.commit(each, { isFact }));
  });
}
