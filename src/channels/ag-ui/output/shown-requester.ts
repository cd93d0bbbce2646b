import { inertLine } from '../../../content/inert-text.ts';
import { requesterText } from '../../../content/requester-text.ts';
import type { UserInputRequest } from '../../../content/user-input.ts';

/** Who asked, as one line that a client may show as it is; `undefined` where the app has named nobody. */
export function requesterLine({
  requestedBy,
}: Pick<UserInputRequest, 'requestedBy'>): string | undefined {
  const requester = requesterText(requestedBy);
  return requester === undefined ? undefined : inertLine(requester);
}
