import { tool } from 'ai';
import type { ToolRunOptions } from 'holdpoint';
import { askUserQuestion, userChoice } from 'holdpoint/tools';
import { z } from 'zod';
import { askForText } from './ask-for-text.ts';
import type { Ledger } from './ledger.ts';
import { invoiceSchema, oldBackups, openInvoices } from './records.ts';

const deletionSchema = z.object({ paths: z.array(z.string()).min(1) });

/** The tools of the office: two look and change nothing, three do something, three ask the user. */
export function officeTools(ledger: Ledger) {
  /* Done once for a key, so that a call may be started again when its process died (`idempotent` in main.ts). */
  const doing =
    (toolName: string) =>
    async (input: object, { idempotencyKey, toolCallId }: ToolRunOptions) => ({
      receipt: await ledger.doOnce({ key: idempotencyKey ?? toolCallId, toolName, input }),
    });
  const listInvoices = tool({
    description: 'The invoices that are not paid yet.',
    inputSchema: z.object({}),
    execute: async () => {
      const paid = await ledger.inputsOf('payInvoice', invoiceSchema);
      return openInvoices((number) => paid.some(({ invoice }) => invoice === number));
    },
  });
  const listBackups = tool({
    description: 'The oldest backups, with their size.',
    inputSchema: z.object({}),
    execute: async () => {
      const deleted = await ledger.inputsOf('deleteFiles', deletionSchema);
      return oldBackups((path) => deleted.some(({ paths }) => paths.includes(path)));
    },
  });
  const payInvoice = tool({
    description: 'Pays one invoice that listInvoices gave.',
    inputSchema: invoiceSchema,
    execute: doing('payInvoice'),
  });
  const deleteFiles = tool({
    description: 'Deletes files that listBackups gave.',
    inputSchema: deletionSchema,
    execute: doing('deleteFiles'),
  });
  const sendMail = tool({
    description: 'Sends a mail.',
    inputSchema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
    execute: doing('sendMail'),
  });
  return {
    listInvoices,
    listBackups,
    payInvoice,
    deleteFiles,
    sendMail,
    askForText,
    AskUserQuestion: askUserQuestion(),
    user_choice: userChoice(),
  };
}
