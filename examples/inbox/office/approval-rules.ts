import type { ToolApproval } from 'holdpoint';
import type { officeTools } from './tools.ts';

const hour = 3_600_000;
const euros = new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' });

/** The calls that people must approve, with the texts that they read. Tools that only read data need no approval. */
export const approvalRules: ToolApproval<ReturnType<typeof officeTools>, unknown> = {
  payInvoice: ({ amount, payee }) => ({
    type: 'user-approval',
    text: `May I pay ${euros.format(amount)} to ${payee}?`,
    reason: 'A payment can not be undone.',
    approvers: ['manager'],
    notRequester: true,
    editable: ['amount'],
    remember: { scope: 'everyone', match: ['payee', 'iban'], uses: 20 },
    risk: amount < 1_000 ? 'medium' : 'high',
    expiresAfterMs: 24 * hour,
  }),
  deleteFiles: ({ paths }) => ({
    type: 'user-approval',
    text:
      paths.length === 1 ? 'May I delete this file?' : `May I delete these ${paths.length} files?`,
    reason: 'A deleted backup is gone for good.',
    approvers: ['manager'],
    risk: 'high',
    expiresAfterMs: 24 * hour,
  }),
  sendMail: ({ to }) => ({
    type: 'user-approval',
    text: `May I send this mail to ${to}?`,
    reason: 'The mail leaves the office.',
    editable: ['subject', 'body'],
    risk: 'low',
  }),
};
