import type { ActType, ChangingActParts } from '../../content/act.ts';
import type { Remember } from '../../content/approval-terms.ts';
import type { Grant } from '../../content/grant.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { MirroredCall } from '../calls/delegation.ts';
import type { DeliveredOutcome, SettledOutcome } from '../calls/delivered-outcome.ts';
import type { Above, AnswerOptions } from '../input/parse-input.ts';
import type { AgentContext } from '../run/agent-context.ts';

/** The parameters of the acts that are done one at a time. */
interface ActParts extends ChangingActParts {
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

/** An act of a person on a pending request, call or turn. */
export type Act<TYPE extends SingleAct> = { type: TYPE } & ActParts[TYPE];

/** An act, the thread in which it is done, and the person who does it. */
export interface Acting<TYPE extends SingleAct> {
  context: AgentContext;
  log: ThreadLog;
  act: Act<TYPE>;
  /** The person who does it, and their channel. */
  by: AnswerOptions;
  /** The verdict of the agents of the threads above on the person; absent where the act does not come through them. */
  above?: Above;
}

/** The result of admitting an act: the facts for its decision, or the call whose sub-agent has recorded the act. */
type Admitted<FOUND> = { found: FOUND } | { recordedBelow: MirroredCall };

/** An act about which the app was asked, when it is decided. */
export interface Done<TYPE extends SingleAct, FOUND> extends Acting<TYPE> {
  found: FOUND;
  at: number;
}

/** Admits an act without asking: anybody who may use the thread may do it. */
export async function admitAnybody(): Promise<{ found: undefined }> {
  return { found: undefined };
}

/** Admits and decides an act. */
export interface ActRow<TYPE extends SingleAct, FOUND = undefined> {
  /**
   * Asks the app for permission, and prepares the decision. Rejects with `not-allowed`. An act on a sub-agent's request is passed on, and
   * recorded there first.
   */
  admit: (acting: Acting<TYPE>) => Promise<Admitted<FOUND>>;
  /** Proposes the events, for the thread as it is then. It asks for no permission: it throws `AskAgain` for what was not asked about. */
  decide: (proposal: Proposal, done: Done<TYPE, FOUND>) => void;
  /** Set if it is only done in the thread of the outermost agent, which passes it on. */
  isOutermost?: boolean;
  /** Set if it is recorded even if the thread then belongs to another agent. */
  isFact?: boolean;
}
