import { inertLine } from '../../content/inert-text.ts';
import { requesterText } from '../../content/requester-text.ts';
import { oneLine, wrap } from './fit-text.ts';
import type { Page } from './page.ts';

const label = 'Asked for by: ';
const shortest = 10;

/** Who asked, in one row; the whole of a long one with `v`. Nothing where the app has named nobody. */
export function showRequester(page: Page, requestedBy: unknown): void {
  const requester = requesterText(requestedBy);
  if (requester === undefined) return;
  const lines = wrap(label + inertLine(requester), page.columns - 2);
  if (lines.length > 1 && page.isFolding) {
    page.hasFolded = true;
    const room = Math.max(shortest, page.columns - 2 - label.length);
    page.add(label + oneLine(requester, room));
  } else page.addAll(lines.map((line, index) => (index === 0 ? line : `┊ ${line}`)));
}
