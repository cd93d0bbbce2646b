import { join } from 'node:path';
import type { ThreadStore } from 'holdpoint';
import { createGate, type Gate } from 'holdpoint/mcp';
import { authorize } from './http-clients.ts';

const finance = ['ada', 'ben', 'bo'];

/** A gate of a team, whose people are in the header `x-user`: payments are approved by finance, and by nobody who asked. */
export function openTeamGate(store: ThreadStore, ledger: string, holdMs: number): Gate {
  return createGate({
    store,
    authorize,
    holdMs,
    pollMs: 100,
    leaseMs: 10_000,
    upstreams: {
      bank: {
        command: process.execPath,
        args: [join(import.meta.dirname, 'bank-process.ts'), ledger],
      },
    },
    toolApproval: { pay: { type: 'user-approval', approvers: ['finance'], notRequester: true } },
    mayAnswer: ({ principal }) => finance.some((name) => name === principal),
  });
}
