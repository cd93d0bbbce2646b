import { HoldpointError, type HoldpointErrorCode } from '../../../errors.ts';
import { toldOf } from '../../../http/error-response.ts';
import type { AgUiEvent } from './ag-ui-event.ts';

/* What a client can act on. Of all else it is told what the app says. */
const told: ReadonlySet<HoldpointErrorCode> = new Set<HoldpointErrorCode>([
  'invalid-input',
  'invalid-answer',
  'not-allowed',
  'unknown-request',
  'unknown-call',
  'already-answered',
  'request-closed',
  'answer-mismatch',
  'thread-busy',
  'requests-open',
  'thread-indeterminate',
  'revision-conflict',
]);

/** The end of a run that failed, or was refused. Front ends of interactions know `requests-open` by a name of their own. */
export function runError(error: unknown, onError?: (error: unknown) => string): AgUiEvent {
  const known = HoldpointError.isInstance(error) && told.has(error.code) ? error : undefined;
  if (known === undefined) {
    return { type: 'RUN_ERROR', message: toldOf(error, onError), code: 'internal-error' };
  }
  const { code, message } = known;
  const name = code === 'requests-open' ? 'NO_RESPONSE_FOR_PENDING' : code;
  return { type: 'RUN_ERROR', message, code: name };
}
