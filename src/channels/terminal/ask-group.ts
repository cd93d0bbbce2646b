import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  approve,
  reject,
} from '../../content/approval.ts';
import type { TimeReader } from '../../content/deadline-words.ts';
import { lookAlikeWarnings } from '../../content/look-alikes.ts';
import { makeRequestCard, renderCardLines } from '../../view/request-card.ts';
import type { Dialog } from './dialog.ts';
import { showCall } from './page.ts';
import { addDifferences } from './request-table.ts';
import { approvingWord, decisionList } from './widget.ts';

/** Asks about similar requests at once, showing all of their inputs; `undefined` if the person goes back. */
export async function askGroup(
  requests: readonly ApprovalRequest[],
  dialog: Dialog,
  reader: TimeReader,
): Promise<ApprovalResponseContent[] | undefined> {
  const [first] = requests;
  if (first === undefined) return undefined;
  const needsReason = first.requireReason === true;
  await dialog.show((page) => {
    page.text(`${requests.length} similar requests`, page.paint.strong);
    const lines = requests.map((request) => renderFacts(request, reader));
    const shared = renderFacts(first, reader).filter((line) =>
      lines.every((each) => each.includes(line)),
    );
    page.facts(shared);
    page.warnings(lookAlikeWarnings(requests));
    const isSharedAlone = lines.every(({ length }) => length === shared.length);
    if (isSharedAlone && addDifferences(page, requests)) {
      page.add('');
      return;
    }
    for (const [index, request] of requests.entries()) {
      const { text, toolCall } = request;
      page.add('');
      page.text(text);
      page.facts(lines[index]?.filter((line) => !shared.includes(line)) ?? []);
      if (toolCall !== undefined) showCall(page, toolCall);
    }
    page.add('');
  });
  const picked = await dialog.pick({
    ...decisionList,
    entries: [
      {
        label: `Approve all ${requests.length}`,
        words: [approvingWord],
        isYes: true,
        leadsOn: needsReason,
      },
      { label: `Reject all ${requests.length}`, words: ['reject', 'n', 'no'] },
      { label: `Reject all ${requests.length} with a reason`, leadsOn: true },
    ],
    start: 1,
    exit: 'back',
  });
  if (picked === undefined || !('index' in picked)) return undefined;
  const isYes = picked.index === 0;
  if (picked.index === 1 || (isYes && !needsReason)) {
    return requests.map((request) => (isYes ? approve(request) : reject(request)));
  }
  const prompt = isYes
    ? 'Reason for all of them: '
    : 'Reason for all of them (the agent reads it): ';
  const typed = await dialog.typeText({
    prompt,
    canGoBack: true,
    canBeEmpty: false,
    enter: 'send',
  });
  if (typed.type !== 'text') return undefined;
  const reason = typed.text;
  return requests.map((request) =>
    isYes ? approve(request, { reason }) : reject(request, reason),
  );
}

/* Facts that all requests share are shown once. Look-alikes are searched in all of them together. */
function renderFacts(request: ApprovalRequest, reader: TimeReader): string[] {
  return renderCardLines(makeRequestCard(request, { warnings: [] }), reader);
}
