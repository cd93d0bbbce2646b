import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  approve,
  reject,
} from '../../content/approval.ts';
import type { Dialog } from './dialog.ts';
import type { Page } from './page.ts';
import { showCall } from './show-call.ts';
import { showRequester } from './show-requester.ts';
import type { PickList } from './widget.ts';

/* Enter alone never approves, nor does a key that was meant for something else: what is highlighted first is no. */
const decisions: PickList = {
  entries: [
    { label: 'Approve', word: 'approve' },
    { label: 'Reject', word: 'reject' },
    { label: 'Reject with a reason' },
  ],
  start: 1,
  takesText: false,
  exit: 'leave',
};

/** Asks for a person's word; `undefined` leaves the request open. */
export async function askApproval(
  request: ApprovalRequest,
  dialog: Dialog,
): Promise<ApprovalResponseContent | undefined> {
  await dialog.show((page) => showApproval(page, request));
  for (;;) {
    const picked = await dialog.pick(decisions);
    if (picked === undefined || !('index' in picked)) return undefined;
    if (picked.index === 0) return approve(request);
    if (picked.index === 1) return reject(request);
    const reason = await dialog.typeText({
      prompt: 'Why? The agent is told: ',
      canGoBack: true,
      canBeEmpty: false,
    });
    if (reason !== undefined) return reject(request, reason);
  }
}

function showApproval(page: Page, { text, reason, toolCall, requestedBy }: ApprovalRequest): void {
  page.text(text, page.paint.question);
  if (reason !== undefined) page.text(`Why: ${reason}`);
  showRequester(page, requestedBy);
  page.add('');
  if (toolCall === undefined) return;
  showCall(page, toolCall);
  page.add('');
}
