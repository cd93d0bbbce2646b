import type { AskedEndings } from '../input/asked-endings.ts';
import type { ActRow, SingleAct } from './act.ts';
import { type AdmittedReassignment, reassign, withdraw } from './change-request.ts';
import { cancel, retract, stop } from './end-turn.ts';
import { type AdmittedMemory, remember } from './remember-answer.ts';
import { revoke } from './revoke-grant.ts';
import { type AdmittedOutcome, type AdmittedRetry, deliver, settle } from './settle-call.ts';

/** The facts that admitting each act finds. */
export interface Found {
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
export const acts: { readonly [TYPE in SingleAct]: ActRow<TYPE, Found[TYPE]> } = {
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
