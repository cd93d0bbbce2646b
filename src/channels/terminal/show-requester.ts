import { inertLine } from '../../content/inert-text.ts';
import { requesterText } from '../../content/requester-text.ts';
import { wrap } from './fit-text.ts';
import { linesPart } from './fold-parts.ts';
import type { Page } from './page.ts';

/** Who asked. Nothing where the app has named nobody. */
export function showRequester(page: Page, requestedBy: unknown): void {
  const requester = requesterText(requestedBy);
  if (requester === undefined) return;
  const lines = wrap(`Asked for by: ${inertLine(requester)}`, page.columns - 2);
  page.addPart(linesPart(lines.map((line, index) => (index === 0 ? line : `┊ ${line}`))));
}
