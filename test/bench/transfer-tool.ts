import { tool, type Tool } from 'ai';
import { z } from 'zod';

/** Counts what was run, to see that every contender did the whole work. */
export class Ledger {
  transfers = 0;

  /** The work of the tool, such as it is. */
  async transfer(): Promise<{ status: string }> {
    this.transfers += 1;
    return { status: 'transferred' };
  }
}

/** The description of the tool, for the loop that has no AI SDK. */
export const transferDescription = 'Transfers money between two accounts.';

/** A new `transfer` tool, schema and all, as a process makes it when it starts. */
export function transferTool(
  ledger: Ledger,
): Tool<{ from: string; to: string; amount: number }, { status: string }> {
  return tool({
    description: transferDescription,
    inputSchema: z.object({ from: z.string(), to: z.string(), amount: z.number() }),
    needsApproval: true,
    execute: () => ledger.transfer(),
  });
}
