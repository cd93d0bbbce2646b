import type { Tool } from 'ai';
import { tool } from 'ai';
import { z } from 'zod';
import { finalText } from '../bench-model.ts';
import { Ledger, transferDescription } from '../transfer-tool.ts';

/** What every contender does: so many transfers, with or without an approval for each. */
export interface SpeedTask {
  calls: number;
  asks: boolean;
  ledger: Ledger;
}

/** New tools, as a process makes them when it starts. Whether they ask is said by `rulesOf`. */
export function toolsOf({ ledger }: SpeedTask): {
  transfer: Tool<{ from: string; to: string; amount: number }, { status: string }>;
} {
  return {
    transfer: tool({
      description: transferDescription,
      inputSchema: z.object({ from: z.string(), to: z.string(), amount: z.number() }),
      execute: () => ledger.transfer(),
    }),
  };
}

/** The rules, in the shape that the AI SDK and holdpoint have in common. */
export function rulesOf({ asks }: SpeedTask): { transfer: 'user-approval' } | undefined {
  return asks ? { transfer: 'user-approval' } : undefined;
}

/** Throws unless the whole work was done, once. */
export function checkDone({ calls, ledger }: SpeedTask, said: string): void {
  const { transfers } = ledger;
  ledger.transfers = 0;
  if (said === finalText && transfers === calls) return;
  throw new Error(`It ran ${transfers} of ${calls} transfers and said '${said}'.`);
}

/** A task whose one call needs nobody. */
export function callUnasked(): SpeedTask {
  return { ...askForCalls(1), asks: false };
}

/** A task that asks about each of its calls. */
export function askForCalls(calls: number): SpeedTask {
  return { calls, asks: true, ledger: new Ledger() };
}
