import type { HoldpointError } from '../../errors.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';

/**
 * Thrown by the decision on an act, if the thread has changed since the app was asked for permission: it is asked again. If that can't
 * help, as nothing was appended in between, the act is refused.
 */
export class AskAgain extends Error {
  readonly refusal: HoldpointError;

  constructor(refusal: HoldpointError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Repeats work that asks the app and then decides, while others append in between. */
export async function untilSettled<RESULT>(
  log: ThreadLog,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  for (let asked = -1; ; asked = log.revision) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AskAgain)) throw error;
      if (log.revision === asked) throw error.refusal;
    }
  }
}
