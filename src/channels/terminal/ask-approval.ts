import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  approve,
  reject,
} from '../../content/approval.ts';
import type { Dialog } from './dialog.ts';
import type { Page } from './page.ts';
import { showCall } from './show-call.ts';
import type { PickList } from './widget.ts';

/* "Reject" is highlighted first, so that neither Enter alone nor a mistyped key approves. */
const decisions: PickList = {
  entries: [
    { label: 'Approve', words: ['approve', 'y', 'yes'], isYes: true },
    { label: 'Reject', words: ['reject', 'n', 'no'] },
    { label: 'Reject with a reason', leadsOn: true },
  ],
  start: 1,
  takesText: false,
  exit: 'leave',
  isNumbered: false,
  decides: true,
  enter: 'send',
};

/** Asks for a person's approval; `undefined` leaves the request open. `position`: which of several it is, as `2 of 3`. */
export async function askApproval(
  request: ApprovalRequest,
  dialog: Dialog,
  position?: string,
): Promise<ApprovalResponseContent | undefined> {
  await dialog.show((page) => showApproval(page, request, position));
  let reason = '';
  for (;;) {
    const picked = await dialog.pick(decisions);
    if (picked === undefined || !('index' in picked)) return undefined;
    if (picked.index === 0) return approve(request);
    if (picked.index === 1) return reject(request);
    const typed = await dialog.typeText({
      prompt: 'Reason (the agent reads it): ',
      text: reason,
      canGoBack: true,
      canBeEmpty: false,
      enter: 'send',
    });
    if (typed.type === 'text') return reject(request, typed.text);
    reason = typed.text;
  }
}

function showApproval(page: Page, request: ApprovalRequest, position: string | undefined): void {
  const { text, reason, toolCall } = request;
  page.position(position);
  page.text(text, page.paint.question);
  if (reason !== undefined) page.text(`Why: ${reason}`);
  page.asker(request);
  page.add('');
  if (toolCall === undefined) return;
  showCall(page, toolCall);
  page.add('');
}
