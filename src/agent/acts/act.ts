import type { ActType } from '../../content/act.ts';
import type { Remember } from '../../content/approval-terms.ts';
import type { Grant } from '../../content/grant.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { MirroredCall } from '../calls/delegation.ts';
import type { DeliveredOutcome, SettledOutcome } from '../calls/delivered-outcome.ts';
import type { Above, AnswerOptions } from '../input/parse-input.ts';
import type { AgentContext } from '../run/agent-context.ts';

/** The parameters of the acts that are done one at a time. */
interface ActParts {
  withdraw: { requestId: string };
  /** `to` is a name, role or team. */
  reassign: { requestId: string; to: string };
  remember: { requestId: string; remember: Remember };
  settle: { toolCallId: string; outcome: SettledOutcome };
  deliver: { toolCallId: string; outcome: DeliveredOutcome };
  retract: { messageId?: string | undefined };
  stop: object;
  cancel: { reason: string };
  revoke: { grant: Grant };
}

/** The acts that come as the input of a run, several at once: see `parseInput`. */
type InputAct = 'approve' | 'reject' | 'answer-question' | 'send' | 'resume';

/** The acts that are done one at a time. */
export type SingleAct = Exclude<ActType, InputAct>;

/** Something that a person does about a pending request, call or turn. */
export type Act<TYPE extends SingleAct> = { type: TYPE } & ActParts[TYPE];

/** An act, the thread in which it is done, and the person who does it. */
export interface Acting<TYPE extends SingleAct> {
  context: AgentContext;
  log: ThreadLog;
  act: Act<TYPE>;
  /** Who does it. */
  by: AnswerOptions;
  /** What the agents of the threads above say of the person; absent where the act does not come through them. */
  above?: Above;
}

/** The result of admitting an act: what deciding needs in addition to the thread, or the call whose sub-agent has recorded the act. */
type Admitted<FOUND> = { found: FOUND } | { recordedBelow: MirroredCall };

/** An act about which the app was asked, when it is decided. */
export interface Done<TYPE extends SingleAct, FOUND> extends Acting<TYPE> {
  found: FOUND;
  at: number;
}

/** Admits an act without asking: whoever may use the thread may do it. */
export async function admitAnybody(): Promise<{ found: undefined }> {
  return { found: undefined };
}

/** How an act is admitted and decided. */
export interface ActRow<TYPE extends SingleAct, FOUND = undefined> {
  /**
   * Asks the app who may, and makes what it takes to decide. Rejects with `not-allowed`. An act on what a sub-agent asks is passed on, and
   * recorded there first.
   */
  admit: (acting: Acting<TYPE>) => Promise<Admitted<FOUND>>;
  /** Proposes the events, in the thread as it is by then. Asks nobody: throws `AskAgain` for what nobody was asked about. */
  decide: (proposal: Proposal, done: Done<TYPE, FOUND>) => void;
  /** Set if it is done in the thread of the outermost agent alone, which has it passed on. */
  isOutermost?: boolean;
  /** Set if it is recorded whosever the thread is by then. */
  isFact?: boolean;
}
