import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgent } from 'holdpoint';
import { openStore } from '../open-store.ts';
import { identify, mayAnswer } from '../people.ts';
import { approvalRules } from './approval-rules.ts';
import { Ledger } from './ledger.ts';
import { officeModel } from './office-model.ts';
import { officeTools } from './tools.ts';

/** The agent of the office, with its store: the same in the process that serves pages and in the worker. */
export async function openOffice() {
  const { AI_GATEWAY_API_KEY, HOLDPOINT_MODEL, HOLDPOINT_DEMO_DIR } = process.env;
  const folder = HOLDPOINT_DEMO_DIR || '.holdpoint-inbox';
  await mkdir(folder, { recursive: true });
  const { store, close } = openStore(folder);
  const modelId = HOLDPOINT_MODEL || (AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : undefined);
  const agent = createAgent({
    name: 'office',
    model: modelId ?? officeModel(25),
    instructions:
      'You are the assistant of a small office: you pay invoices, delete old backups, write mails and plan lunches. Ask with ' +
      'your tools where something is not clear. Every payment, deletion and mail is approved by a person, who sees the call itself: ' +
      'do not ask for approval in your text. Answer in plain text, without Markdown, in one to three sentences.',
    tools: officeTools(new Ledger(join(folder, 'ledger.jsonl'))),
    toolApproval: approvalRules,
    mayAnswer,
    principalId: identify,
    /* The ledger does each thing once per key, so a call that was interrupted by a crash can be started again. */
    toolRecovery: {
      payInvoice: { idempotent: true },
      deleteFiles: { idempotent: true },
      sendMail: { idempotent: true },
    },
    store,
    leaseMs: 3_000,
  });
  return { agent, store, close, folder };
}
