import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { Proposal } from '../../thread/proposal.ts';
import { refuseChild } from '../input/answer-errors.ts';
import { commitMirror } from '../input/answers-below.ts';
import { untilSettled } from '../input/ask-again.ts';
import type { Acting, ActRow, SingleAct } from './act.ts';
import { acts, type Found } from './acts.ts';

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
